"""The Python interface: load a study, run it, and hold its results as tables and charts.

`onechange` itself offers what is public here: ``onechange.load_study``, ``load_results``, ``load_run``,
``list_studies`` and ``list_members``. Everything shows itself in a notebook; every table goes to pandas or Arrow as
it is.
"""
