"""A campaign at a glance: how far it is, how sure it is, and what more answers would do."""
