"""Rules about what must not stand in a file that is committed and sent around: secrets, and paths that lead out."""
