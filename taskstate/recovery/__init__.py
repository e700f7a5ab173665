"""Brings back what was acknowledged and is gone: out of kept copies, the archive and git, by merging.

What counts as gone is said in `writing`.
"""
