"""Moves older sessions of a state file into its archive, verifies the archive, and restores the file byte for byte.

The format of an archive file is read in `model.archive_format`.
"""
