"""The server's use cases, independent of the web: what a campaign does, and in which order."""
