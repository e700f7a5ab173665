from __future__ import annotations

import pytest

from taskstate.validation.paths import escape_reason, literal_prefix


@pytest.mark.parametrize(
    "path",
    [
        *("src/a.py", "src/**", "**", "./src", "a/../b", "a/b/../../c", "..a/b", "a..", "a/...", ".github/x", "a b/c"),
        *("src\\a", "a\\..\\b"),
        '"src/\\303\\244.py"',
        '"a\\"b"',
        "",
        ":macro",
        "a~b/c",
    ],
)
def test_a_path_that_stays_inside(path: str) -> None:
    """A path that never leaves its root has no escape reason."""
    assert escape_reason(path) == ""


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        *((each, "is absolute") for each in ("/", "/etc/passwd", "//server/share", "\\\\server\\share", "\\x", '"/x"')),
        *((each, "begins with a drive letter") for each in ("C:", "c:x", "C:/x", "C:\\x")),
        *((each, "begins in a home folder") for each in ("~", "~/x", "~ann/x", "~\\x")),
        *(
            (each, "leads out of the repository")
            for each in (
                "..",
                "../x",
                "a/../../b",
                "..\\x",
                "a\\..\\..\\b",
                "./../x",
                "a//../../b",
                "**/../../x",
                ".. /x",
            )
        ),
    ],
)
def test_a_path_that_leads_out(path: str, reason: str) -> None:
    """A path that is absolute on some system, or climbs above its root on the way, says how."""
    assert escape_reason(path) == reason


def test_the_root_is_named() -> None:
    """The reason names the root as the caller does."""
    assert escape_reason("../x", "the state folder") == "leads out of the state folder"


@pytest.mark.parametrize(
    ("path", "prefix"),
    [("src/a.py", "src/a.py"), ("src/**/x", "src"), ("src/a*.py", "src"), ("**", ""), ("a/[bc]/d", "a"), ("a?/b", "")],
)
def test_the_part_before_a_wildcard(path: str, prefix: str) -> None:
    """What can be looked for on a disk ends before the part that holds the first wildcard."""
    assert literal_prefix(path) == prefix
