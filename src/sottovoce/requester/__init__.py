"""The requester's side: campaigns on a server, from Python, and what its webhooks are told."""
