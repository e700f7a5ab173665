"""Rules on what must not be in a file that is committed and shared: secrets, and paths out of the repository."""
