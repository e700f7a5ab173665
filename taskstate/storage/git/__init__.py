"""The only place that starts git: reading objects, the index, the log, and the working tree.

Everything returns bytes, paths and ids; what they mean for a task is decided elsewhere.
"""
