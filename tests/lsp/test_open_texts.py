"""Addresses of files: what an editor sends and is sent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from taskstate.lsp.open_texts import path_of, uri_of


@pytest.mark.parametrize("name", [b"a b", "ü;?#%".encode(), b"\xff\xfe", b"c:", b"\x1b\n"])
def test_an_address_names_its_file(name: bytes) -> None:
    """Every name that a file can have comes back from its address, also one that is not UTF-8."""
    path = Path("/", os.fsdecode(name), os.fsdecode(name))
    assert path_of(uri_of(path)) == path


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b", "/a/b"),
        ("file://localhost/a/b", "/a/b"),
        ("FILE:////a/./b", "/a/b"),
        ("file://elsewhere.example/a/b", None),
        ("file://[x]/a", None),
        ("file:///a%00b", None),
        ("file:", None),
        ("untitled:a", None),
    ],
)
def test_only_this_machine_has_files(uri: str, path: str | None) -> None:
    """An address on another machine, or one that the system cannot be given, names no file."""
    assert path_of(uri) == (path and Path(path))
