"""Reads the transcripts that agents' clients keep of their sessions: lines of JSON in, the same few events out.

`reading` is the door; `source` opens the file, and the rest is pure. A client's format stands in the module of its name
alone; what a reader does not know it skips.
"""
