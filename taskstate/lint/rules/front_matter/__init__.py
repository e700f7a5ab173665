"""Rules about single keys of the front matter."""
