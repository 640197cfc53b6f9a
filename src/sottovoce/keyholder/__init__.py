"""What a keyholder runs: keys that never leave it, and its part in opening one total."""
