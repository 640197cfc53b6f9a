CREATE INDEX batched_by_number ON batched (campaign, number, digest);
CREATE INDEX ix_invites_campaign ON invites (campaign);
CREATE INDEX ix_webhooks_campaign ON webhooks (campaign);
CREATE INDEX reports_by_worker ON reports (campaign, worker);
CREATE TABLE batched (
	campaign INTEGER NOT NULL, 
	report_id BLOB NOT NULL, 
	number INTEGER NOT NULL, 
	digest BLOB NOT NULL, 
	PRIMARY KEY (campaign, report_id), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE TABLE campaigns (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	id TEXT NOT NULL, 
	state TEXT NOT NULL, 
	terms TEXT NOT NULL, 
	quota INTEGER, 
	closes_on INTEGER, 
	tasks INTEGER NOT NULL, 
	workers INTEGER NOT NULL, 
	submissions INTEGER NOT NULL, 
	reports INTEGER NOT NULL, 
	erasures INTEGER NOT NULL, 
	created_on INTEGER NOT NULL, 
	opened_on INTEGER, 
	closed_on INTEGER, 
	simulated INTEGER DEFAULT 0 NOT NULL, 
	sealed INTEGER DEFAULT 0 NOT NULL, 
	published INTEGER DEFAULT 0 NOT NULL, 
	cut_short INTEGER DEFAULT 0 NOT NULL, 
	UNIQUE (id)
);
CREATE TABLE deliveries (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	webhook INTEGER NOT NULL, 
	event TEXT NOT NULL, 
	id TEXT NOT NULL, 
	body TEXT NOT NULL, 
	attempts INTEGER NOT NULL, 
	due INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	FOREIGN KEY(webhook) REFERENCES webhooks (number) ON DELETE CASCADE, 
	UNIQUE (id)
);
CREATE TABLE erased (
	campaign INTEGER NOT NULL, 
	report_id BLOB NOT NULL, 
	PRIMARY KEY (campaign, report_id), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE TABLE events (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	day INTEGER NOT NULL, 
	event TEXT NOT NULL, 
	campaign TEXT
);
CREATE TABLE invites (
	digest BLOB NOT NULL, 
	campaign INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	expires_on INTEGER, 
	worker BLOB, 
	PRIMARY KEY (digest), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE TABLE keyholders (
	campaign INTEGER NOT NULL, 
	seat INTEGER NOT NULL, 
	digest BLOB NOT NULL, 
	seen_on INTEGER, 
	PRIMARY KEY (campaign, seat), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE, 
	UNIQUE (digest)
);
CREATE TABLE live_events (
	session INTEGER NOT NULL, 
	sequence INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	member INTEGER, 
	content BLOB, 
	PRIMARY KEY (session, sequence), 
	FOREIGN KEY(session) REFERENCES live_sessions (number) ON DELETE CASCADE
);
CREATE TABLE live_members (
	session INTEGER NOT NULL, 
	seat INTEGER NOT NULL, 
	digest BLOB NOT NULL, 
	number INTEGER, 
	signing TEXT, 
	sealing TEXT, 
	replied BLOB, 
	ending BLOB, 
	PRIMARY KEY (session, seat), 
	UNIQUE (session, number), 
	FOREIGN KEY(session) REFERENCES live_sessions (number) ON DELETE CASCADE, 
	UNIQUE (digest)
);
CREATE TABLE live_rounds (
	session INTEGER NOT NULL, 
	round INTEGER NOT NULL, 
	totals BLOB NOT NULL, 
	contributors TEXT NOT NULL, 
	excluded TEXT NOT NULL, 
	PRIMARY KEY (session, round), 
	FOREIGN KEY(session) REFERENCES live_sessions (number) ON DELETE CASCADE
);
CREATE TABLE live_sessions (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	id TEXT NOT NULL, 
	state TEXT NOT NULL, 
	offer TEXT NOT NULL, 
	sequence INTEGER DEFAULT 0 NOT NULL, 
	terms TEXT, 
	secret BLOB, 
	deal BLOB, 
	ending BLOB, 
	outcome TEXT, 
	result TEXT, 
	created_on INTEGER NOT NULL, 
	UNIQUE (id)
);
CREATE TABLE messages (
	campaign INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	sender INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	content BLOB NOT NULL, 
	PRIMARY KEY (campaign, phase, sender, number), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE TABLE opened (
	campaign INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	workers INTEGER NOT NULL, 
	totals BLOB NOT NULL, 
	answered BLOB, 
	PRIMARY KEY (campaign), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE TABLE rejections (
	campaign INTEGER NOT NULL, 
	reason TEXT NOT NULL, 
	count INTEGER NOT NULL, 
	PRIMARY KEY (campaign, reason), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE TABLE reports (
	sequence INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	campaign INTEGER NOT NULL, 
	report_id BLOB NOT NULL, 
	worker BLOB NOT NULL, 
	day INTEGER NOT NULL, 
	digest BLOB NOT NULL, 
	tasks BLOB NOT NULL, 
	codes BLOB NOT NULL, 
	UNIQUE (campaign, report_id), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE TABLE results (
	campaign INTEGER NOT NULL, 
	sequence INTEGER NOT NULL, 
	erasures INTEGER NOT NULL, 
	summary TEXT NOT NULL, 
	content BLOB NOT NULL, 
	PRIMARY KEY (campaign), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE TABLE signing_keys (
	name TEXT NOT NULL, 
	secret BLOB NOT NULL, 
	created_on INTEGER NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE sottovoce_schema (
	version_num TEXT NOT NULL, 
	PRIMARY KEY (version_num)
);
CREATE TABLE sqlite_sequence(name,seq);
CREATE TABLE tasks (
	campaign INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	text TEXT NOT NULL, 
	image TEXT, 
	known TEXT, 
	PRIMARY KEY (campaign, place), 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE
);
CREATE TABLE tokens (
	digest BLOB NOT NULL, 
	kind TEXT NOT NULL, 
	name TEXT NOT NULL, 
	created_on INTEGER NOT NULL, 
	PRIMARY KEY (digest)
);
CREATE TABLE webhooks (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	campaign INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	address TEXT NOT NULL, 
	secret TEXT NOT NULL, 
	FOREIGN KEY(campaign) REFERENCES campaigns (number) ON DELETE CASCADE, 
	UNIQUE (id)
)
