"""What all clients share: addresses and links, requests with retries, replies."""
