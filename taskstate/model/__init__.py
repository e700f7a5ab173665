"""What the texts of a task mean: state, kinds of documents, names, configuration, roles, chain, archive format.

Pure: text and plain values in, frozen records out. Nothing is read from disk or written to it here.
"""
