"""Bytes on disk: atomic writes, the lock, the journal, backups, caches; and, in `storage.git`, the only caller of git.

Knows paths and bytes, and nothing of tasks or Markdown.
"""
