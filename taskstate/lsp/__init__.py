"""The language server: what the linter finds and the jobs do, offered to editors while one types.

Thin, like `cli/`: a request of the editor is turned into plain values and answered by the packages below. It reads open
files as the editor has them. What it changes in them goes to the editor as edits; only jobs write to the disk. Nothing
that stands in a file is ever run.
"""
