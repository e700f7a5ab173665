"""A packed diff is unpacked within a bound."""

from __future__ import annotations

import gzip

from taskstate.snapshots import diffs


def test_a_small_file_that_unpacks_to_gigabytes_is_refused() -> None:
    """A diff that holds more than the bound counts as broken, before it is unpacked as a whole."""
    assert diffs._unpacked(gzip.compress(b"a diff\n")) == b"a diff\n"  # noqa: SLF001 - the bound is not to be seen otherwise
    bomb = gzip.compress(bytes(2 * diffs._MAX_DIFF), 1)  # noqa: SLF001 - as above
    assert diffs._unpacked(bomb) is None  # noqa: SLF001 - as above
    assert diffs._unpacked(b"none") is None  # noqa: SLF001 - as above
