"""What rules may ask beyond the text of a file: other tasks, the archive, artifacts, git, the clock.

`interface` says what can be asked, the other modules answer it. Each question is recorded with a mark of its answer, so
that the cache can tell whether a result still holds.
"""
