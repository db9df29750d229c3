"""Measures of stories: what a model writes, set beside what people wrote; `docs/measures.md` defines each."""
