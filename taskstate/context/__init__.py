"""The sealed Static Context of a task: capturing it from its sources, citing standards, checking and exporting it.

`model.static_context` reads its parts.
"""
