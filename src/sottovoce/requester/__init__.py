"""The requester's side: campaigns on a server, from Python, and webhook signatures."""
