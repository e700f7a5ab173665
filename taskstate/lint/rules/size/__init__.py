"""Rules about how large a file may become."""
