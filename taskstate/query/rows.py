"""What one file says, as rows of tables: a function of its bytes and its place, which reads neither disk nor clock.

Whoever makes an index of one repository or of thousands calls `rows_of` for each file. No row holds the value of a
credential: the text is read with its characters replaced, and what is left in a cell is masked once more.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from itertools import accumulate

from taskstate.model import names
from taskstate.query import tables, task_rows
from taskstate.secrets.mask import masked
from taskstate.syntax.document import parse
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from taskstate.lint.diagnostics import Finding
    from taskstate.model.document_kinds import Kinds
    from taskstate.query.tables import Row
    from taskstate.syntax.document import Document

    Rows = Mapping[str, list[Row]]

OK, NOT_UTF8 = "ok", "not-utf8"
MOST_TEXT = 1_000_000  # characters of a cell; a line of NDJSON stays below the 16 MB that its reader takes
_HIDDEN = "\ue000"  # stands for each character of a credential while a text is read: it means nothing in YAML or JSON
_LARGEST = 2**63
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_NO_WORDS = frozenset({"repo", "path", "blob", "sha256", "fingerprint", "config_sha"})  # names, and never words


class FileText(NamedTuple):
    """A file of taskstate's own: where it is, and its bytes, or why there are none (`unread`, a code).

    What is no secret by the configuration stands in `allow`, the kinds that the repository declares in `kinds`. `blob`
    is the file's id in git, where it was read from there.
    """

    repo: str
    path: str
    data: bytes
    unread: str = ""
    allow: tuple[str, ...] = ()
    kinds: Kinds = ()
    blob: str | None = None


def rows_of(file: FileText) -> Rows:
    """Return the rows of a file by table: always one of `files`, and none elsewhere where it cannot be read."""
    rows: dict[str, list[Row]] = {name: [] for name in tables.of_files()}
    type_ = names.own_type(file.path)
    about: Row = {"blob": file.blob, "type": type_, "state": file.unread or OK, "is_read": False}
    if not file.unread:
        about |= {"bytes": len(file.data), "sha256": hashlib.sha256(file.data).hexdigest()}
        try:
            about |= _read(file.data.decode("utf-8"), type_, file, rows)
        except UnicodeDecodeError:
            about["state"] = NOT_UTF8
    rows["files"].append(about)
    return {name: _finished(each, file.repo, file.path, file.allow) for name, each in rows.items()}


def lint_rows(repo: str, findings: Sequence[Finding]) -> list[Row]:
    """Return the findings in one file as rows; their messages are masked by the linter."""
    from taskstate.lint.reporters.fingerprint import fingerprints

    rows: list[Row] = []
    for number, (each, fingerprint) in enumerate(zip(findings, fingerprints(findings), strict=True), 1):
        code, name, severity, _, message, _, fix = each.diagnostic
        row: Row = {"repo": repo, "path": each.path, "ordinal": number, "code": code, "name": name}
        row |= {"line": each.line, "col": each.column, "end_line": each.end_line, "end_col": each.end_column}
        row |= {"severity": severity, "message": _fitting(message)}
        rows.append(row | {"fixable": fix is not None, "fingerprint": fingerprint})
    return rows


def ndjson(rows: Iterable[Row]) -> bytes:
    """Return rows as JSON, a line each; what is no Unicode, as in the name of a folder, becomes a question mark."""
    return "".join(f"{_JSON(row)}\n" for row in rows).encode("utf-8", "replace")


def time_of(text: object) -> tuple[str | None, str | None]:
    """Return a time of a file in UTC as SQL reads it; and where the text is no time, that text."""
    if not isinstance(text, str) or not text:
        return None, None if text is None or text == "" else str(text)
    try:
        time = datetime.fromisoformat(text)
        time = time.astimezone(UTC) if time.tzinfo else time
    except (ValueError, OverflowError):
        return None, text
    return time.replace(tzinfo=None, microsecond=0).isoformat(" "), None


def _read(text: str, type_: str, file: FileText, rows: Mapping[str, list[Row]]) -> Row:
    """Add the rows of a text to their tables, and return what the row of the file says of it."""
    from taskstate.secrets.scan import find

    hidden = _hidden(text, file.allow)
    about: Row = {"secrets": 0 if hidden == text else len(find(text, file.allow))}
    if type_ in {"impact-map", "progress"}:
        return about | {"is_read": True, "older_form": type_ == "progress"}
    document = parse(hidden, file.kinds)
    about |= _form(document, type_)
    if about["is_read"]:
        task_rows.add(document, type_, file.path, rows)
    document.forget_derived()
    return about


def _form(document: Document, type_: str) -> Row:
    from taskstate.model.older_sections import is_older
    from taskstate.model.task_state import read_state

    if type_ == "archive":
        return {"is_read": True, "older_form": False}
    problems = (read_state(document) if type_ == "state" else document).problems
    version = document.front_matter.get("taskstate")
    is_number = isinstance(version, int) and not isinstance(version, bool)
    return {
        "state": problems[0].kind if problems else OK,
        "is_read": document.front_matter.node is not None,
        "format_version": version if is_number else None,
        "older_form": type_ == "state" and is_older(document),
    }


def _hidden(text: str, allow: tuple[str, ...]) -> str:
    """Return a text in which each character of a credential is another one, which changes nothing around it."""
    stars = masked(text, allow)
    if stars == text:
        return text
    return "".join(new if new == old else _HIDDEN for new, old in zip(stars, text, strict=True))


def _finished(rows: list[Row], repo: str, path: str, allow: tuple[str, ...]) -> list[Row]:
    """Return rows with repository and path, with times as SQL reads them, and with what is left of secrets masked."""
    done = [sound({"repo": repo, "path": path, **row}) for row in rows]
    texts = [
        (row, key, text) for row in done for key, text in row.items() if isinstance(text, str) and key not in _NO_WORDS
    ]
    whole = "\n".join(text for _, _, text in texts)
    shown = masked(whole, allow).replace(_HIDDEN, "*")
    if shown != whole:
        ends = accumulate(len(text) + 1 for _, _, text in texts)
        for (row, key, text), end in zip(texts, ends, strict=True):
            row[key] = shown[end - len(text) - 1 : end - 1]
    return done


def sound(row: Mapping[str, object]) -> Row:
    """Return a row whose values fit their columns: numbers of 64 bits, texts of a bounded length without NUL."""
    done: Row = {}
    for key, value in row.items():
        if key.endswith("_at"):
            done[key], done[f"{key}_text"] = time_of(value)
        else:
            done[key] = _fitting(value)
    return done


def _fitting(value: object) -> object:
    if isinstance(value, str):
        return value[:MOST_TEXT].replace("\0", "\ufffd")
    return None if isinstance(value, int) and not -_LARGEST <= value < _LARGEST else value
