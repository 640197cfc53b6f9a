"""Steps: pure functions of the reports of some tasks, in NumPy and as compiled kernels."""
