"""`make audit` says plainly what was not looked up: an audit without an answer is no good answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from scripts.audit import verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

KNOWN = {"name": "attrs", "version": "26.1.0", "vulns": []}
OURS = {"name": "taskstate", "skip_reason": "distribution marked as editable"}
HOLE = {"id": "PYSEC-2026-1", "fix_versions": ["26.2.0"], "aliases": []}
UNKNOWN = {"name": "anyio", "skip_reason": "Dependency not found on PyPI and could not be audited: anyio (4.16.0)"}
UNREACHABLE = """\
Traceback (most recent call last):
  File "urllib3/connection.py", line 204, in _new_conn
requests.exceptions.ConnectionError: HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded
"""


def answer(*packages: Mapping[str, object]) -> str:
    """Return what pip-audit prints about packages."""
    return json.dumps({"dependencies": packages, "fixes": []})


def test_all_looked_up_and_no_hole_is_the_one_good_answer() -> None:
    """Only where each package but our own was looked up and has no hole does the audit end with 0."""
    assert verdict(answer(KNOWN, OURS), "No known vulnerabilities found") == (
        0,
        ("audit: none of the 1 packages has a known hole",),
    )


def test_packages_that_were_not_looked_up_are_no_good_answer() -> None:
    """A database that knows none, or not all, of the packages is told by number and name, with status 2."""
    for packages, number in (((UNKNOWN,), "1 of 1"), ((KNOWN, UNKNOWN, OURS), "1 of 2")):
        status, lines = verdict(answer(*packages), "No known vulnerabilities found")
        assert status == 2
        assert f"{number} packages were not looked up: anyio" in lines[0]


def test_no_package_at_all_is_no_good_answer() -> None:
    """An audit of nothing ends with 2."""
    assert verdict(answer(OURS), "").status == 2


def test_a_hole_is_named_with_the_version_that_mends_it() -> None:
    """A known hole is a line with package, version, name and cure, and status 1, whatever else was not looked up."""
    status, lines = verdict(answer(KNOWN | {"vulns": [HOLE]}, UNKNOWN), "Found 1 known vulnerability in 1 package")
    assert status == 1
    assert lines[0] == "audit: attrs 26.1.0 has a known hole, PYSEC-2026-1; mended in 26.2.0"
    assert "1 of 2" in lines[1]


def test_an_unreachable_database_is_one_line_and_no_traceback() -> None:
    """Where pip-audit ends with a traceback, its last line is told, with what to do and status 2."""
    for complaint in (UNREACHABLE, ""):
        status, lines = verdict("", complaint)
        assert status == 2
        assert "no answer" in lines[0]
        assert "Traceback" not in "".join(lines)
