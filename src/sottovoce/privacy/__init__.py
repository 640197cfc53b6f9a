"""What reports betray: guarantees, composition, calibration, audit. Knows no mechanism."""
