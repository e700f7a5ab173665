r"""Reads the lint corpus: `tests/cases/lint/TS4xx/*.case`, one readable file per fault.

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

`name` is the file's path, which determines the type of file. Each `expect` names one finding: code, line and column of
its begin and end counted from 1, and `fix`, `unsafe` or `job` if it has a fix. A case expects exactly these findings;
without an `expect` it is clean. `%%% fixed` has the text after the safe fixes, `%%% unsafe` after all of them; both may
be left out where nothing changes.

Optional header lines: `newline: crlf` (for every line end), `escapes: yes` (`\r`, `\t`, `\xff` for a byte, `\u202e` for
a character, a backslash before a line end to leave it out, `\\` for a backslash), `repeat: {filler} 2000 words` (every
`{filler}` in the text becomes so many repetitions), and `config: size.max-kb = 1` (a line of TOML, as in the
configuration).

A case also gives the answers to queries; a query without one is unanswered. `%%% earlier` is the text at the compared
revision (several while merging; empty for a new file), `%%% archive` the archive file (empty where there is none) and
`%%% earlier_archive` the archive file at the compared revision; `now: 2025-01-01T00:00:00Z` is the clock, `changed:
src/a.py` a path that differs from the compared revision, `same-id: old/task-101-state.md` another file with the id,
`leaves: docs/x.md` a path through a link that leads outside, `missing: abc1234` a commit that the repository lacks,
`artifact: artifacts/task-101/x.gz HASH` an existing artifact; `same-id`, `leaves`, `missing` and `artifact` may be
`none`. `excerpt: docs/x.md changed` says how the excerpts of a file compare with it.
`removed: 10 HEAD tasks/task-10-state.md` is a task whose state file is gone since a revision.
`unmatched: src/*.zz` is a glob that no file matches. `gap: file:x.py names x.py` is a gap that completing the task
would find, by its key and its words.
`permanent: 9` is the id of another active permanent task, `impact-map: HASH` the hash of the file with the
Impact Map; both may be `none`. `there: app.py` is an existing path; all others do not exist then. `blob: tasks/x.yaml
ID` is git's id of a file, and may be `none`. `%%% standard standards/x.md` is a cited file (repeatable; `standards:
none` for no such file). `%%% handoff handoffs/task-101/phase-1-….md` is a handoff document of the task (repeatable;
`handoffs: none`), `%%% task 100` the state file of another task (repeatable; `tasks: none`). With `gone: yes` the text
is that of a removed file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from taskstate.context.citations import Standard
from taskstate.handoff.document import WrittenHandoff, read_written_handoff
from taskstate.lint.queries.interface import ARCHIVE, CLOCK, GIT, HISTORY, REPOSITORY, UPSTREAM, Queries
from taskstate.model.algorithms import DependencyGraph
from taskstate.model.chain import read_upstream
from taskstate.model.config import Config
from taskstate.model.config_reader import parse_config
from taskstate.model.names import own_file
from taskstate.syntax.document import Document, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.model.chain_quotes import Upstream

CORPUS = Path(__file__).parents[1] / "cases" / "lint"
CLEAN = CORPUS / "clean"

_SEPARATOR = re.compile(r"^%%% (\w+(?: \S+)?)\n", re.MULTILINE)
_ESCAPE = re.compile(rb"\\(\n|r|t|\\|x[0-9a-f]{2}|u[0-9a-f]{4})")
_SHORT = {b"\n": b"", b"r": b"\r", b"t": b"\t", b"\\": b"\\"}
_QUERIES = {
    "gap",
    "now",
    "changed",
    "same-id",
    "leaves",
    "missing",
    "tasks",
    "artifact",
    "excerpt",
    "there",
    "handoffs",
}
_QUERIES |= {"unmatched", "gap", "blob", "standards", "permanent", "impact-map", "removed"}
_HEADERS = {"name", "expect", "newline", "escapes", "repeat", "config", "gone"} | _QUERIES
_ONCE = {"text", "fixed", "unsafe"}
_SEVERAL = {"earlier", "archive", "earlier_archive"}
_TASK = "task "
_HANDOFF = "handoff "
_STANDARD = "standard "


class CaseQueries(Queries):
    """Answers the queries about a case's file from the header and the parts of the case."""

    def __init__(self, header: dict[str, list[str]], parts: list[tuple[str, str]]) -> None:
        self.header = header
        self.parts = parts
        kinds = {"now": CLOCK, "same-id": REPOSITORY, "leaves": REPOSITORY, "missing": GIT, "changed": GIT}
        kinds |= {"artifact": REPOSITORY, "excerpt": REPOSITORY, "permanent": REPOSITORY, "impact-map": REPOSITORY}
        kinds |= {"earlier": HISTORY, "archive": ARCHIVE, "there": REPOSITORY, "handoffs": REPOSITORY}
        self.answerable = frozenset(kinds[key] for key in (*header, *(name for name, _ in parts)) if key in kinds)

        if self.tasks or "tasks" in header:
            self.answerable |= {UPSTREAM}
        if any(name.startswith((_HANDOFF, _STANDARD)) for name, _ in parts) or {"blob", "standards"} & {*header}:
            self.answerable |= {REPOSITORY}

    @property
    def tasks(self) -> dict[str, list[Upstream]]:
        """The other tasks of the case, by id."""
        tasks: dict[str, list[Upstream]] = {}
        for name, text in self.parts:
            if name.startswith(_TASK):
                path = f".taskstate/tasks/task-{name.removeprefix(_TASK)}-state.md"
                tasks.setdefault(name.removeprefix(_TASK).casefold(), []).append(read_upstream(parse(text), path))
        return tasks

    def upstream(self, task_id: str) -> tuple[Upstream, ...] | None:
        """Return the case's tasks with that id."""
        return tuple(self.tasks.get(task_id.casefold(), ())) if UPSTREAM in self.answerable else None

    def dependency_path(self, task_id: str) -> tuple[str, ...] | None:
        """Return the dependency path back to the case's task, through its other tasks."""
        own = own_file(self.header["name"][0])
        if UPSTREAM not in self.answerable or own is None or own.id is None:
            return None
        depends_on = {key: each.depends_on for key, upstreams in self.tasks.items() for each in upstreams}
        return DependencyGraph(lambda key: depends_on.get(key, ())).shortest_path(task_id, own.id)

    def is_future(self, moment: str) -> bool | None:
        """Return whether a timestamp is later than the case's clock."""
        return moment > self.header["now"][0] if "now" in self.header else None

    def _documents(self, name: str) -> tuple[Document, ...] | None:
        texts = [text for key, text in self.parts if key == name]
        return tuple(parse(text) for text in texts if text) if texts else None

    def earlier(self, now: Document | None = None) -> tuple[Document, ...] | None:  # noqa: ARG002 - the past is given
        """Return the earlier texts of the case."""
        return self._documents("earlier")

    def earlier_names(self) -> tuple[str, ...] | None:
        """Return names as git has them for the earlier texts: of HEAD, and of what is merged into it."""
        names = [f"{revision}:{self.header['name'][0]}" for revision in ("HEAD", "0123456789ab", "ba9876543210")]
        return None if self.earlier() is None else tuple(names[: len(self.earlier() or ())])

    def archive(self) -> tuple[Document, ...] | None:
        """Return the case's archive file."""
        return self._documents("archive")

    def earlier_archive(self) -> tuple[Document, ...] | None:
        """Return the earlier texts of the case's archive file."""
        return self._documents("earlier_archive")

    def _listed(self, name: str) -> tuple[str, ...] | None:
        values = self.header.get(name)
        return None if values is None else tuple(each for each in values if each != "none")

    def changed_paths(self) -> tuple[str, ...] | None:
        """Return the changed paths of the case."""
        return self._listed("changed")

    def completion_gaps(self) -> tuple[tuple[str, str], ...] | None:
        """Return the gaps that the case names."""
        found = (each.partition(" ") for each in self._listed("gap") or ())
        return tuple((key, words) for key, _, words in found)

    def removed_task(self, task_id: str) -> tuple[str, ...] | None:
        """Return revision and path of a state file of the case that is gone."""
        gone = {name.casefold(): tuple(place) for name, *place in map(str.split, self._listed("removed") or ())}
        return gone.get(task_id.casefold(), ())

    def same_id(self) -> tuple[str, ...] | None:
        """Return the other files with the same id."""
        return self._listed("same-id")

    def active_permanent(self) -> tuple[str, ...] | None:
        """Return the ids of the other active permanent tasks."""
        return self._listed("permanent")

    def impact_map(self) -> str | None:
        """Return the hash of the file with the Impact Map; empty where the case has none."""
        hashes = self._listed("impact-map")
        return None if hashes is None else "".join(hashes)

    def leads_outside(self, path: str) -> bool | None:
        """Return whether a path leads outside in the case."""
        paths = self._listed("leaves")
        return None if paths is None else path in paths

    def missing_commits(self, ids: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return those of the commits that are missing in the case."""
        missing = self._listed("missing")
        return None if missing is None else tuple(each for each in ids if each in missing)

    def artifact(self, path: str, *, diff: bool = False) -> str | None:  # noqa: ARG002 - the case has it
        """Return the hash of an artifact of the case; empty for another path."""
        artifacts = self._listed("artifact")
        return None if artifacts is None else dict(each.split() for each in artifacts).get(path, "")

    def excerpt(self, path: str, lines: str, sha256: str) -> str | None:  # noqa: ARG002 - the case has it
        """Return how the excerpts of a path compare with it in the case."""
        states = self._listed("excerpt")
        return None if states is None else dict(each.split() for each in states).get(path, "same")

    def has_artifact(self, path: str) -> bool | None:
        """Return whether the case has an artifact with that path."""
        digest = self.artifact(path)
        return None if digest is None else bool(digest)

    def has_log(self, sha256: str) -> bool | None:
        """Return whether an artifact of the case has that hash."""
        artifacts = self._listed("artifact")
        return None if artifacts is None else any(each.split()[1] == sha256 for each in artifacts)

    def matches(self, glob: str) -> bool | None:
        """Return whether a glob matches a file of the case."""
        globs = self._listed("unmatched")
        return None if globs is None else glob not in globs

    def exists(self, path: str) -> bool | None:
        """Return whether a path exists in the case."""
        paths = self._listed("there")
        return None if paths is None else path in paths

    def handoffs(self) -> tuple[WrittenHandoff, ...] | None:
        """Return the case's handoff documents."""
        documents = [(name.removeprefix(_HANDOFF), text) for name, text in self.parts if name.startswith(_HANDOFF)]
        if not documents and "handoffs" not in self.header:
            return None
        return tuple(read_written_handoff(parse(text), path) for path, text in documents)

    def standard(self, path: str) -> tuple[Standard, ...] | None:
        """Return a cited file of the case."""
        standards = [Standard(text) for name, text in self.parts if name == f"{_STANDARD}{path}"]
        is_known = standards or "standards" in self.header or any(name.startswith(_STANDARD) for name, _ in self.parts)
        return tuple(standards) if is_known else None

    def blob_ids(self, path: str) -> tuple[str, ...] | None:
        """Return the git ids of a file of the case; empty for another path."""
        blobs = self._listed("blob")
        return None if blobs is None else tuple(each.split()[1] for each in blobs if each.split()[0] == path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One file of the corpus; `fixed` and `unsafe` are None where the case does not give them."""

    id: str
    name: str
    config: Config
    expected: tuple[str, ...]
    data: bytes
    fixed: bytes | None
    unsafe: bytes | None
    queries: Queries
    gone: bool = False

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
    pairs = list(zip(pieces[::2], pieces[1::2], strict=True))
    header = _header(head, path.name)
    named = {name for name, _ in pairs if not name.startswith((_TASK, _HANDOFF, _STANDARD))}
    unknown = set(header) - _HEADERS | named - _ONCE - _SEVERAL
    assert not unknown, f"{path.name}: unknown {', '.join(sorted(unknown))}"
    texts = {name: _content(text, header) for name, text in pairs if name in _ONCE}
    assert "text" in texts, f"{path.name}: no `%%% text`"
    answers = [(name, _content(text, header).decode()) for name, text in pairs if name not in _ONCE]
    return Case(
        id=path.stem,
        name=header["name"][0],
        config=parse_config("\n".join(header.get("config", [])), "taskstate.toml") or Config(),
        expected=tuple(header.get("expect", [])),
        data=texts["text"],
        fixed=texts.get("fixed"),
        unsafe=texts.get("unsafe"),
        queries=CaseQueries(header, answers),
        gone=header.get("gone") == ["yes"],
    )


@cache  # eight modules ask for them as they are imported
def cases() -> tuple[Case, ...]:
    """Return all cases of the corpus."""
    return tuple(read_case(path) for path in sorted(CORPUS.glob("TS*/*.case")))


def varied_cases() -> list[Case]:
    """Return the first case of each family of rules, kind of fix, and thing that a case can say in header and parts.

    They are some forty, for what looks at files as such, and would find the same in the others.
    """
    seen: set[str] = set()
    chosen: list[Case] = []
    for case in cases():
        assert isinstance(case.queries, CaseQueries)
        fixes = {fix for _, _, *fixes in map(str.split, case.expected) for fix in fixes[:1]}
        parts = {f"part {name.split()[0]}" for name, _ in case.queries.parts}
        kinds = {case.id[:3], *fixes, *parts, *case.queries.header} | (set() if case.text else {"no text"})
        if not kinds <= seen:
            chosen.append(case)
        seen |= kinds
    return chosen


def one_of_each_rule(among: Iterable[Case]) -> list[Case]:
    """Return the first of these cases for each rule that they are about."""
    first: dict[str, Case] = {}
    for case in among:
        first.setdefault(case.id.partition("-")[0], case)
    return [*first.values()]


def clean_files() -> list[Path]:
    """Return the files without findings."""
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
        data = _ESCAPE.sub(lambda match: _unescaped(match[1]), data)
    return data.replace(b"\n", b"\r\n") if header.get("newline") == ["crlf"] else data


def _unescaped(escape: bytes) -> bytes:
    if escape in _SHORT:
        return _SHORT[escape]
    number = int(escape[1:], 16)
    return bytes([number]) if escape[:1] == b"x" else chr(number).encode()
