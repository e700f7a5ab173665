"""The only package that starts git: reads objects, the index, the log and the working tree.

Everything returns bytes, paths and object ids; what they mean for a task is decided by the callers.
"""
