"""A trained model for programs that do not know onechange: a folder that they load, checked before it is handed over.

`hub` writes one for transformers where an architecture of theirs is the model exactly, `standalone` one with the model
written out on a page of its own, for every arm of built-in members.
"""
