from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskstate.context.path_scope import read_scope

MACROS = {"ui": ("web/**/*.css", ":icons"), "icons": ("web/icons",), "loop": (":loop", "a.py")}
parts = st.text("ab.*", min_size=1, max_size=3).filter(lambda part: part not in {".", ".."})
paths = st.lists(st.sampled_from(["a", "b", "ab", "a.py"]), min_size=1, max_size=5).map("/".join)


def covers(pattern: str, path: str) -> bool:
    """Return whether the scope of one item covers a path."""
    return read_scope([pattern], MACROS).covers(path)


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("src/app", ["src/app", "src/app/main.py", "src/app/x/y.py"], ["src/application", "src/app.py", "src"]),
        ("src/app/", ["src/app/main.py"], ["src/application/main.py"]),
        ("src/**", ["src/a", "src/a/b.py"], ["src", "srcs/a"]),
        ("src/*", ["src/a"], ["src/a/b.py", "src"]),
        ("src/*/", ["src/a/b.py"], []),
        ("**/test_*.py", ["test_a.py", "x/y/test_a.py"], ["x/my_test_a.py", "test_a.pyc"]),
        ("src/**/api/*.ts", ["src/api/a.ts", "src/x/y/api/a.ts"], ["src/api/x/a.ts", "api/a.ts"]),
        ("**", ["a", "a/b"], []),
        (".", ["a", "a/b"], []),
        ("./src", ["src/a"], ["a/src"]),
        ("src/a?.py", ["src/ab.py"], ["src/a.py", "src/a/.py"]),
        ("src/[ab].py", ["src/a.py"], ["src/c.py"]),
        ("src/[!ab].py", ["src/c.py"], ["src/a.py"]),
        ("src/*.{ts,tsx}", ["src/a.ts", "src/a.tsx"], ["src/a.js", "src/a.{ts,tsx}"]),
        (r"src/\*.py", ["src/*.py"], ["src/a.py"]),
        (r"src/my\_file.py", ["src/my_file.py"], []),
        ("src/app[1", ["src/app[1"], ["src/app1"]),
        ("Src", ["Src/a"], ["src/a"]),
        (":ui", ["web/a/b.css", "web/a.css", "web/icons/a.svg"], ["web/a.js"]),
        (":loop", ["a.py"], ["loop"]),
        (":nobody", [], ["nobody", ":nobody"]),
        ("/src", [], ["src", "src/a"]),
        ("../src", [], ["src", "../src/a"]),
        ("", [], ["a"]),
    ],
)
def test_what_a_pattern_covers(pattern: str, inside: list[str], outside: list[str]) -> None:
    """A pattern is compared with a path part by part; without a wildcard at its end it covers what lies below."""
    assert [path for path in inside if not covers(pattern, path)] == []
    assert [path for path in outside if covers(pattern, path)] == []


@pytest.mark.parametrize(
    "item",
    ["`src/a b/**`", "`src/a b/**`, the parser", "the parser in `src/a b/**` and `docs/**`", "``src/a b/**``"],
)
def test_an_item_in_code_marks(item: str) -> None:
    """The text in code marks is the pattern, spaces included, whatever stands beside it."""
    scope = read_scope([item], {})
    assert scope.covers("src/a b/c.py")
    assert not scope.covers("src/a/c.py")


@pytest.mark.parametrize("remark", ["", " - the parser", " (the parser)", " — the parser", " # the parser"])
def test_an_item_with_a_remark(remark: str) -> None:
    """Without code marks a remark behind the pattern does not belong to it."""
    assert covers(f"src/parse{remark}", "src/parse/a.py")


def test_what_is_taken_out() -> None:
    """A pattern behind `!` excludes from what the others cover, wherever it stands."""
    scope = read_scope(["`!src/gen/**`", "`src/**`"], {})
    assert scope.covers("src/a.py")
    assert not scope.covers("src/gen/a.py")


def test_many_braces_end() -> None:
    """A pattern with too many brace alternatives is taken literally."""
    assert not covers("{a,b}" * 40, "a" * 40)


@given(paths, paths)
def test_a_path_covers_itself_and_what_lies_below(path: str, below: str) -> None:
    """A plain path covers itself and all that lies below, and nothing that only begins like it."""
    assert covers(path, path)
    assert covers(path, f"{path}/{below}")
    assert not covers(path, f"{path}x")
    assert covers(path, below) == (below == path or below.startswith(f"{path}/"))


@given(st.lists(parts, min_size=1, max_size=4).map("/".join), paths)
def test_any_depth_may_be_none(pattern: str, path: str) -> None:
    """A pattern with `**` before it covers the same paths at any depth."""
    if covers(pattern, path):
        assert covers(f"**/{pattern}", path)
        assert covers(f"**/{pattern}", f"b/{path}")


def test_a_hostile_pattern_is_fast() -> None:
    """Matching is fast for every pattern, since anybody may write one."""
    begin = time.perf_counter()
    assert not covers("**/a/" * 200 + "b", "a/" * 2000 + "c")
    assert not covers("*a" * 200 + "b", "a" * 5000)
    assert time.perf_counter() - begin < 5
