"""One file for each kind of thing; each parses, calls and renders."""
