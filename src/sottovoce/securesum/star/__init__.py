"""What `masked` and `damgard_jurik` share: online workers in a star, the server in its middle."""
