"""Looks for credentials in a text, and masks them: forms that are known, and random values behind a telling name.

Takes texts and returns spans. Reads no file and knows no workspace: what is refused, and what counts as new, is decided
in `writing.secret_check`.
"""
