"""Bytes on disk: atomic writes, the lock, the journal, backups and caches; `storage.git` is the only caller of git.

This package knows paths and bytes, not tasks or Markdown.
"""
