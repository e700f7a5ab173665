"""Imports tasks from other systems: bytes become records, records become tasks, and all are written in one step.

What is read is text and stays text: nothing of it is followed, run, or becomes a key of ours but by the tables.
"""
