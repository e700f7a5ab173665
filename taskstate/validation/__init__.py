"""Decides whether a value is allowed: JSON Schemas, patterns, and paths that must stay inside the repository.

Takes values and texts and returns their problems. Reads no user file and never imports `storage`.
"""
