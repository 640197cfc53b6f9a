CREATE TABLE campaigns (
	number BIGSERIAL NOT NULL, 
	id TEXT NOT NULL, 
	state TEXT NOT NULL, 
	terms TEXT NOT NULL, 
	quota INTEGER, 
	closes_on INTEGER, 
	tasks INTEGER NOT NULL, 
	workers BIGINT NOT NULL, 
	submissions BIGINT NOT NULL, 
	reports BIGINT NOT NULL, 
	erasures BIGINT NOT NULL, 
	created_on INTEGER NOT NULL, 
	opened_on INTEGER, 
	closed_on INTEGER, 
	simulated INTEGER DEFAULT 0 NOT NULL, 
	sealed INTEGER DEFAULT 0 NOT NULL, 
	published INTEGER DEFAULT 0 NOT NULL, 
	cut_short BIGINT DEFAULT 0 NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (id)
);
CREATE TABLE tokens (
	digest BYTEA NOT NULL, 
	kind TEXT NOT NULL, 
	name TEXT NOT NULL, 
	created_on INTEGER NOT NULL, 
	PRIMARY KEY (digest)
);
CREATE TABLE signing_keys (
	name TEXT COLLATE "C" NOT NULL, 
	secret BYTEA NOT NULL, 
	created_on INTEGER NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE live_sessions (
	number BIGSERIAL NOT NULL, 
	id TEXT NOT NULL, 
	state TEXT NOT NULL, 
	offer TEXT NOT NULL, 
	sequence INTEGER DEFAULT 0 NOT NULL, 
	terms TEXT, 
	secret BYTEA, 
	deal BYTEA, 
	ending BYTEA, 
	outcome TEXT, 
	result TEXT, 
	created_on INTEGER NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (id)
);
CREATE TABLE events (
	number BIGSERIAL NOT NULL, 
	day INTEGER NOT NULL, 
	event TEXT NOT NULL, 
	campaign TEXT, 
	PRIMARY KEY (number)
);
CREATE TABLE tasks (
	campaign BIGINT NOT NULL, 
	place INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	text TEXT NOT NULL, 
	image TEXT, 
	known TEXT, 
	PRIMARY KEY (campaign, place), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE TABLE invites (
	digest BYTEA NOT NULL, 
	campaign BIGINT NOT NULL, 
	kind TEXT NOT NULL, 
	expires_on INTEGER, 
	worker BYTEA, 
	PRIMARY KEY (digest), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE INDEX ix_invites_campaign ON invites (campaign);
CREATE TABLE reports (
	sequence BIGSERIAL NOT NULL, 
	campaign BIGINT NOT NULL, 
	report_id BYTEA NOT NULL, 
	worker BYTEA NOT NULL, 
	day INTEGER NOT NULL, 
	digest BYTEA NOT NULL, 
	tasks BYTEA NOT NULL, 
	codes BYTEA NOT NULL, 
	UNIQUE (campaign, report_id)
)
 PARTITION BY LIST (campaign);
CREATE INDEX reports_by_worker ON reports (campaign, worker);
ALTER TABLE reports ADD PRIMARY KEY (sequence, campaign);
CREATE TABLE erased (
	campaign BIGINT NOT NULL, 
	report_id BYTEA NOT NULL, 
	PRIMARY KEY (campaign, report_id), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE TABLE rejections (
	campaign BIGINT NOT NULL, 
	reason TEXT COLLATE "C" NOT NULL, 
	count BIGINT NOT NULL, 
	PRIMARY KEY (campaign, reason), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE TABLE results (
	campaign BIGINT NOT NULL, 
	sequence BIGINT NOT NULL, 
	erasures BIGINT NOT NULL, 
	summary TEXT NOT NULL, 
	content BYTEA NOT NULL, 
	PRIMARY KEY (campaign), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE TABLE webhooks (
	number BIGSERIAL NOT NULL, 
	campaign BIGINT NOT NULL, 
	id TEXT NOT NULL, 
	address TEXT NOT NULL, 
	secret TEXT NOT NULL, 
	PRIMARY KEY (number), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE, 
	UNIQUE (id)
);
CREATE INDEX ix_webhooks_campaign ON webhooks (campaign);
CREATE TABLE keyholders (
	campaign BIGINT NOT NULL, 
	seat INTEGER NOT NULL, 
	digest BYTEA NOT NULL, 
	seen_on INTEGER, 
	PRIMARY KEY (campaign, seat), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE, 
	UNIQUE (digest)
);
CREATE TABLE messages (
	campaign BIGINT NOT NULL, 
	phase TEXT COLLATE "C" NOT NULL, 
	sender INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	content BYTEA NOT NULL, 
	PRIMARY KEY (campaign, phase, sender, number), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE TABLE batched (
	campaign BIGINT NOT NULL, 
	report_id BYTEA NOT NULL, 
	number INTEGER NOT NULL, 
	digest BYTEA NOT NULL, 
	PRIMARY KEY (campaign, report_id), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE INDEX batched_by_number ON batched (campaign, number, digest);
CREATE TABLE opened (
	campaign BIGINT NOT NULL, 
	state TEXT NOT NULL, 
	workers INTEGER NOT NULL, 
	totals BYTEA NOT NULL, 
	answered BYTEA, 
	PRIMARY KEY (campaign), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE TABLE live_members (
	session BIGINT NOT NULL, 
	seat INTEGER NOT NULL, 
	digest BYTEA NOT NULL, 
	number INTEGER, 
	signing TEXT, 
	sealing TEXT, 
	replied BYTEA, 
	ending BYTEA, 
	PRIMARY KEY (session, seat), 
	UNIQUE (session, number), 
	FOREIGN KEY(session) REFERENCES live_sessions (number) ON DELETE CASCADE, 
	UNIQUE (digest)
);
CREATE TABLE live_events (
	session BIGINT NOT NULL, 
	sequence INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	member INTEGER, 
	content BYTEA, 
	PRIMARY KEY (session, sequence), 
	FOREIGN KEY(session) REFERENCES live_sessions (number) ON DELETE CASCADE
);
CREATE TABLE live_rounds (
	session BIGINT NOT NULL, 
	round INTEGER NOT NULL, 
	totals BYTEA NOT NULL, 
	contributors TEXT NOT NULL, 
	excluded TEXT NOT NULL, 
	PRIMARY KEY (session, round), 
	FOREIGN KEY(session) REFERENCES live_sessions (number) ON DELETE CASCADE
);
CREATE TABLE deliveries (
	number BIGSERIAL NOT NULL, 
	webhook BIGINT NOT NULL, 
	event TEXT NOT NULL, 
	id TEXT NOT NULL, 
	body TEXT NOT NULL, 
	attempts INTEGER NOT NULL, 
	due BIGINT NOT NULL, 
	state TEXT NOT NULL, 
	PRIMARY KEY (number), 
	FOREIGN KEY(webhook) REFERENCES webhooks (number) ON DELETE CASCADE, 
	UNIQUE (id)
)
