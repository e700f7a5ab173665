"""Snapshots of the working tree: taken when a role ends, compared before the next begins, restored, and forgotten."""
