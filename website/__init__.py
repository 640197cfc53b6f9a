"""The documentation site: `python -m website.build` makes it from `docs/` and `mkdocs.yml`."""
