"""Text and its structure: Markdown, YAML and JSON parsed with source positions, and edits by position.

Knows nothing of tasks and touches no disk. All packages above work on the `Document` that is parsed here.
"""
