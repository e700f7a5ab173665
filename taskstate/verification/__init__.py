"""Proof of the work: snapshots of the working tree, results of checks, cited excerpts, and commands run as evidence."""
