"""Snapshots of the working tree: taking, comparing, restoring and purging them, and accepting drift."""
