"""A worker in a live session: its answers stay here, and it adds to sums that others add to."""
