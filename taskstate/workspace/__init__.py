"""Finds, loads and writes the tasks of a repository under its lock, and the files that belong to them.

This package joins `storage` (bytes on disk) and `model` (what texts mean). What to write is decided by the packages
that build on it.
"""
