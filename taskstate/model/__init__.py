"""What the texts of a task mean: state, kinds, names, the tool's own blocks, configuration, roles, chain, archive.

Pure: text and plain values in, frozen records out. Nothing is read from disk or written to it here.
"""
