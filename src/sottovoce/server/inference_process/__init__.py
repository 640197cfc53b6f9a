"""Background inference: a child process that fits, and the scheduler that calls it."""
