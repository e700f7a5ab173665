"""Moves older sessions of a state file into its archive, checks the archive, and gives every byte back.

The format of an archive file is read in `model.archive_format`.
"""
