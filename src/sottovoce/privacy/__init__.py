"""Privacy accounting: composition, calibration and audit, independent of any mechanism."""
