"""The hashes of the interpreter are those of `hashlib`, and nothing else is loaded for them."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import pytest

from taskstate.syntax import hashes


@pytest.mark.parametrize("data", [b"", b"a", "ä\n".encode() * 1_000])
def test_the_hashes_are_the_usual_ones(data: bytes) -> None:
    """A seal can be checked by any program: it is a SHA-256; a fingerprint is as long as one."""
    assert hashes.sha256(data) == hashlib.sha256(data).hexdigest()
    assert hashes.fingerprint(data) == hashlib.blake2b(data).hexdigest()[:64]


def test_openssl_is_not_loaded() -> None:
    """Hashing imports neither `hashlib` nor what it loads."""
    code = (
        "import sys; from taskstate.syntax import hashes; "
        "hashes.sha256(b''); hashes.fingerprint(b''); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True).stdout
    assert not {"hashlib", "_hashlib"} & set(loaded.split())


def test_another_interpreter_has_them_from_hashlib() -> None:
    """Where the interpreter has no module of its own for a hash, that of `hashlib` is taken."""
    code = (
        "import sys; sys.modules |= dict.fromkeys(['_sha2', '_sha256', '_blake2']);"
        " from taskstate.syntax import hashes; print(hashes.sha256(b'a'))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True).stdout
    assert shown.strip() == hashlib.sha256(b"a").hexdigest()
