"""The documentation site: `make docs`, or `python -m website`."""
