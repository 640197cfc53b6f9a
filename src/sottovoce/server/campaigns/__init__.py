"""Use cases of campaigns, independent of the web: draft, open, receive, infer, export, notify."""
