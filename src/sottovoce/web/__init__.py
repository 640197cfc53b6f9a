"""The service over HTTP: routes parse, call a use case and render."""
