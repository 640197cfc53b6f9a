"""The service: campaigns, sealed campaigns, its database, its inference process, its web pages."""
