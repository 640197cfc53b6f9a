"""Inference in the service: gather what is new, fit, and tell the server."""
