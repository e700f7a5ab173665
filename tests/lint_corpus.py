r"""Reads the damaged corpus: `tests/cases/lint/*.case`, one readable file per fault.

A case is a header, the file's whole text, and what `--fix` makes of it:

    # A session has no time in its heading.
    name: task-101-state.md
    expect: TS403 41:1-41:14 fix
    %%% text
    ---
    …
    %%% fixed
    ---
    …

`name` is the file's path, which says what kind of file it is. Each `expect` names one finding: code, line and
column of its begin and end counted from 1, and `fix`, `unsafe` or `job` where it can be mended. A case expects
exactly these findings; without an `expect` it is clean. `%%% fixed` holds the text after the safe fixes, `%%%
unsafe` after all of them; a part may be left out where nothing changes.

More header lines where they are needed: `newline: crlf` (every line end), `escapes: yes` (`\r`, `\t`, `\xff` for a
byte, `\u202e` for a character, a backslash before a line end to leave it out, `\\` for a backslash), `repeat:
{filler} 2000 words` (every `{filler}` in the text becomes so many repetitions), and `config: size.max-kb = 1` (a
line of TOML, as in the configuration).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from taskstate.config import Config, parse_config

CORPUS = Path(__file__).parent / "cases" / "lint"
CLEAN = CORPUS / "clean"

_SEPARATOR = re.compile(r"^%%% (\w+)\n", re.MULTILINE)
_ESCAPE = re.compile(rb"\\(\n|r|t|\\|x[0-9a-f]{2}|u[0-9a-f]{4})")
_SHORT = {b"\n": b"", b"r": b"\r", b"t": b"\t", b"\\": b"\\"}
_HEADERS = {"name", "expect", "newline", "escapes", "repeat", "config"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One file of the corpus; `fixed` and `unsafe` are None where nothing is said of them."""

    id: str
    name: str
    config: Config
    expected: tuple[str, ...]
    data: bytes
    fixed: bytes | None
    unsafe: bytes | None

    @property
    def text(self) -> str | None:
        """The text, or None where it is not UTF-8."""
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return None


def read_case(path: Path) -> Case:
    """Return the case in a file of the corpus."""
    head, *pieces = _SEPARATOR.split(path.read_text(encoding="utf-8"))
    parts = dict(zip(pieces[::2], pieces[1::2], strict=True))
    header = _header(head, path.name)
    unknown = set(header) - _HEADERS | set(parts) - {"text", "fixed", "unsafe"}
    assert not unknown, f"{path.name}: unknown {', '.join(sorted(unknown))}"
    assert "text" in parts, f"{path.name}: no `%%% text`"
    made = {name: _content(text, header) for name, text in parts.items()}
    return Case(
        id=path.stem,
        name=header["name"][0],
        config=parse_config("\n".join(header.get("config", [])), "taskstate.toml") or Config(),
        expected=tuple(header.get("expect", [])),
        data=made["text"],
        fixed=made.get("fixed"),
        unsafe=made.get("unsafe"),
    )


def cases() -> list[Case]:
    """Return all cases of the corpus."""
    return [read_case(path) for path in sorted(CORPUS.glob("*.case"))]


def clean_files() -> list[Path]:
    """Return the files that must give no finding."""
    return [path for path in sorted(CLEAN.rglob("*")) if path.is_file()]


def _header(head: str, name: str) -> dict[str, list[str]]:
    header: dict[str, list[str]] = {}
    for line in head.splitlines():
        if line.startswith("#") or not line:
            continue
        key, colon, value = line.partition(": ")
        assert colon, f"{name}: {line!r} is no `key: value`"
        header.setdefault(key, []).append(value.strip())
    assert "name" in header, f"{name}: no `name`"
    return header


def _content(text: str, header: dict[str, list[str]]) -> bytes:
    for repeat in header.get("repeat", []):
        mark, count, words = repeat.split(" ", 2)
        text = text.replace(mark, " ".join([words] * int(count)))
    data = text.encode()
    if header.get("escapes") == ["yes"]:
        data = _ESCAPE.sub(lambda found: _unescaped(found[1]), data)
    return data.replace(b"\n", b"\r\n") if header.get("newline") == ["crlf"] else data


def _unescaped(escape: bytes) -> bytes:
    if escape in _SHORT:
        return _SHORT[escape]
    number = int(escape[1:], 16)
    return bytes([number]) if escape[:1] == b"x" else chr(number).encode()
