"""What rules may ask beyond the text of a file: other tasks, the archive, artifacts, git, the clock.

`interface` says what can be asked. `answers` answers it from the repository, with one module of functions for each
subject, and records each question with a mark of its answer, by which the cache tells whether a result still holds.
"""
