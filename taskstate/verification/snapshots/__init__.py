"""Snapshots of the working tree: take, compare, restore and purge them, and accept drift."""
