"""Facts: what rules need to know about a file, derived from its own text, computed once and shared by all rules.

A query (`queries`), in contrast, asks beyond the text of the file: other tasks, the archive, git, the clock.
`file_facts` has the facts that most rules use; the other modules derive those that a few rules share, and may make
queries for them.
"""
