"""Writes the tasks of a repository: under its lock, checked before and after, with what was acknowledged kept.

Finding, loading and listing them is in `workspace`; bytes on disk are in `storage`.
"""
