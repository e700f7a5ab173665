"""Text and its structure: Markdown, YAML and JSON read with spans, and edits that change only what they name.

Knows nothing of tasks and touches no disk. Everything above works on the `Document` that is made here.
"""
