"""Facts: what rules need to know about a file, derived from its own text, computed once and shared by all rules.

A query (`queries`), in contrast, asks beyond the text of the file: other tasks, the archive, git, the clock.
`Facts`, in `file_facts`, has all that rules look at, and that decides whether they are loaded; each module `…_facts`
adds what belongs to one subject. The other modules are what these and a few rules share. Facts may make queries.
"""
