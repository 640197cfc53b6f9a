"""How the members of a live session, workers and the dealer of a key, talk to its server."""
