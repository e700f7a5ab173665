"""Rules about what must be right before a file can be read: encoding, front matter, fences, JSON, and its name."""
