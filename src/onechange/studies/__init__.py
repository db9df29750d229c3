"""The built-in study files."""
