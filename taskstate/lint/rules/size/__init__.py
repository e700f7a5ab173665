"""Rules on the size of a file and of its parts."""
