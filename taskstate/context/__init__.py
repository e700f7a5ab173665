"""The sealed Static Context of a task: capturing it from its sources, citing standards, checking and exporting it.

What stands in it is read by `model.static_context`.
"""
