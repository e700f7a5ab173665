"""The meaning of a task's texts: state, kinds, names, tool blocks, configuration, roles, chain, archive format.

Pure: text and plain values in, frozen records out. Nothing is read from disk or written to it here.
"""
