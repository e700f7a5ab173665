"""Evidence: cited excerpts of files, and commands that are run to prove a feature."""
