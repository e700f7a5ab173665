"""Text and its structure: Markdown, YAML and JSON parsed with source positions, edits by position, and hashes.

Knows nothing of tasks and touches no disk. All packages above work on the `Document` that is parsed here.
"""
