"""Rules about what every reader needs first: bytes, front matter, fences, JSON, and the name."""
