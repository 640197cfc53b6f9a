"""Common parts of `masked` and `damgard_jurik`: online workers in a star around the server."""
