"""Reads what systems write, safely: files and folders, JSON values with their places, Markdown and its boxes.

No policy: what a record becomes is decided elsewhere.
"""
