"""Queries: what rules may ask beyond the text of a file: other tasks, the archive, artifacts, git, the clock.

What the text itself tells is a fact (`facts`). A query depends on something that changes while the file does not, so it
is recorded with a mark of its answer: the cache uses a result only while all marks are the same. `interface` declares
the queries; `answers` answers them from the repository, with one module of functions for each subject.
"""
