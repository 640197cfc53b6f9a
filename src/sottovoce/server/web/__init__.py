"""The service over HTTP: routes, errors in one shape, logs, metrics, pages."""
