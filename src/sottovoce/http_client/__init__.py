"""Shared by all clients: addresses and links, requests with retries, replies."""
