"""Commands of an operator: the service, its database, backups, and what `doctor` looks at."""
