"""The linter: rules over state files, and their fixes."""
