"""What to expect before anyone answers: theorems, simulation, recommendation."""
