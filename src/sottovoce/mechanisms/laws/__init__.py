"""What mechanisms are made of: integer laws, their draws, and what these betray."""
