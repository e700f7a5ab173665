"""No door shows a credential that stands in a file, but where a text is asked for as it is."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from taskstate.__main__ import main
from taskstate.autosave import drafts
from taskstate.autosave.draft import Draft
from taskstate.autosave.drafts import KeptDraft
from taskstate.lint.reporters import FORMATS
from taskstate.operations.index import COMMANDS, operations_of
from taskstate.operations.masking import masked_data
from taskstate.storage.files import digest
from taskstate.storage.private import Private, find_private
from taskstate.storage.replaced_texts import ReplacedText, keep

BODY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TOKEN = "ghp_" + BODY
OPERATIONS = {each.name: each for command in COMMANDS for each in operations_of(command)}
# What gives texts of files as they are; `docs/security.md` names them.
VERBATIM = {
    *("show", "session show", "brief", "start", "handoff show", "handoff successor", "handoff new"),
    *("chain output", "context export", "phase export", "snapshot diff", "trust", "doctor kept show"),
}
REPLACED = ReplacedText("notes.md", f"It had {TOKEN}.".encode(), "migrate")
_SAID = Draft({"did": (f"`{TOKEN}`: new",)}, {})
DRAFT = drafts.keep(
    Private((), None),
    KeptDraft("", "claude", "s", "101", "late", "2026-01-01T00:00:00Z", "p", has_work=True, draft=_SAID),
)
KEPT = digest(f"{REPLACED.path}\0".encode() + REPLACED.data)[:8]
_WORDS = ("--did", f"Used {TOKEN}.", "--state", f"Works with {TOKEN}.", "--next", f"Rotate {TOKEN}.")
_HANDOFF = ("--file", "code.py", "--location", f"at {TOKEN}", "--goal", f"No {TOKEN}.", "--context", f"It is {TOKEN}.")
# Each operation once at least, those that write with a credential in every text that they take. The order matters.
WRITES: tuple[tuple[str, ...], ...] = (
    ("new", "1", "--kind=permanent", f"--title=Platform {TOKEN}", f"--description=Users have {TOKEN}."),
    ("new", "101", f"--title=JWT {TOKEN}", f"--description=Issue {TOKEN}.", f"--criterion={TOKEN} verifies"),
    ("new", "102", f"--title=Uses {TOKEN}", f"--description=Use {TOKEN}.", "--criterion=c", "--depends-on=101"),
    ("new", "103", f"--title=Dropped {TOKEN}", f"--description=No {TOKEN}."),
    ("permanent", "update", "--section=Constraints", "--from=text.md", f"--note={TOKEN}"),
    ("permanent", "decide", f"--title=Keep {TOKEN}", f"--decision=Keep {TOKEN}", f"--rationale=For {TOKEN}"),
    ("permanent", "ack", "--agent=ann", "--version=2"),
    ("impact", "add", "module", "auth", "--path=code.py"),
    ("impact", "add", "module", "web", "--path=web.py", "--depends-on=auth"),
    ("impact", "add", "interface", "login", "--between=auth,web", f"--contract=Sends {TOKEN}"),
    ("impact", "add", "ripple", "far", "--path=auth,web", f"--note=Through {TOKEN}"),
    ("impact", "check", "101", "--files=code.py", "--record", f"--note={TOKEN}"),
    ("impact", "remove", "ripple", "far"),
    ("context", "init", "101"),
    ("feature", "add", "101", "jwt-1", f"Makes {TOKEN}"),
    ("feature", "add", "101", "jwt-2", f"Reads {TOKEN}"),
    ("feature", "add", "102", "use-1", f"Uses {TOKEN}"),
    ("phase", "add", "101", "1", f"--name=Build {TOKEN}", f"--objective=Write {TOKEN}"),
    ("phase", "extend", "101", "1", f"Read {TOKEN}"),
    ("phase", "set", "101", "1", "1", "--status=in_progress", f"--note=Half of {TOKEN}"),
    ("phase", "tried", "101", "1", f"--approach=With {TOKEN}", f"--result=Without {TOKEN}"),
    ("start", "101", "--role=implementer", f"--accept-drift={TOKEN}"),
    ("session", "add", "101", *_WORDS),
    ("session", "add", "101", *_WORDS),
    ("feature", "pass", "101", "jwt-1", f"--evidence=Ran {TOKEN}"),
    ("feature", "fail", "101", "jwt-2", f"--evidence=Broke {TOKEN}"),
    ("evidence", "add", "101", "--type=log", "--path=text.md", "--lines=1-1"),
    ("qa", "baseline", "101", "--qa-log=text.md", f"--result=test=2 passed {TOKEN}"),
    ("qa", "record", "101", "--from=text.md", "--role=implementer", f"--result=test=1 passed {TOKEN}"),
    ("handoff", "new", "101", "--force", f"--action=Go on with {TOKEN}.", *_HANDOFF),
    ("chain", "output", "set", "101", "summary", "--from=text.md"),
    ("chain", "pull", "102"),
    ("role", "block", "101", "implementer", f"--finding=Leaks {TOKEN}"),
    ("snapshot", "take", "101", "--role=implementer"),
    ("archive", "101", "--force", "--keep=1"),
    ("drop", "103", f"--note=No {TOKEN}"),
)
READS: tuple[tuple[str, ...], ...] = (
    ("list",),
    ("next",),
    ("status",),
    ("board",),
    ("status", "101"),
    ("show", "101"),
    ("search", "ghp"),
    ("brief", "101"),
    ("graph",),
    ("query", "--sql", "FROM tasks"),
    ("fleet", "index", ".", "--out", "../fleet"),
    ("fleet", "lint", "."),
    ("fleet", "status", "../fleet", "--verify"),
    ("fleet", "clean", "../fleet"),
    ("report", "--pull-request", "--base=HEAD~1"),
    ("log",),
    ("session", "list", "101"),
    ("autosave", "list"),
    ("autosave", "show", DRAFT.id),
    ("session", "show", "101", "1"),
    ("phase", "show", "101"),
    ("phase", "export", "101", "1", "--output=-"),
    ("handoff", "list", "101"),
    ("handoff", "show", "101"),
    ("handoff", "successor", "101"),
    ("role", "show", "101"),
    ("context", "show", "101"),
    ("context", "check", "101"),
    ("context", "export", "101", "--role=implementer"),
    ("context", "budget", "101"),
    ("chain", "output", "101"),
    ("chain", "status", "102"),
    ("evidence", "show", "101"),
    ("archive", "verify", "101"),
    ("archive", "search", "101", "used"),
    ("permanent", "notify", "--since=1"),
    ("permanent", "status"),
    ("permanent", "recover", "--agent=ann"),
    ("impact", "show"),
    ("impact", "challenge", "101", "--files=code.py"),
    ("impact", "scan"),
    ("qa", "compare", "101", "--role=implementer"),
    ("snapshot", "verify", "101", "--role=implementer"),
    ("snapshot", "diff", "101", "--role=implementer"),
    ("trust",),
    ("protocol", "101"),
    ("rule", "TS951"),
    ("decompose", "101"),
    ("doctor",),
    ("doctor", "kept", "list"),
    ("doctor", "kept", "show", KEPT),
    ("lint",),
    ("fmt", "--check"),
    ("import", "--list"),
    ("export", "csv"),
    ("migrate", "--dry-run"),
    ("complete", "101"),
)
REST: tuple[tuple[str, ...], ...] = (
    ("permanent", "import", "text.md"),
    ("impact", "confirm", "101", f"--note={TOKEN}"),
    ("session", "restore", "101", "1", "--from=HEAD"),
    ("archive", "restore", "101", "--all"),
    ("handoff", "accept", "101", "--agent=bob"),
    ("role", "unblock", "101", "implementer", "--all"),
    ("snapshot", "resolve", "101", f"--note={TOKEN}"),
    ("context", "rebuild", "101", f"--note={TOKEN}"),
    ("role", "set", "101", "implementer", "--status=done"),
    ("role", "reopen", "101", "implementer", f"--note={TOKEN}"),
    ("git-history", "sync", "101"),
    ("criterion", "add", "101", f"It holds {TOKEN}", "--force-secrets"),
    ("edit", "101", f"--title={TOKEN}", "--force-secrets"),
    ("criterion", "check", "101", "1"),
    ("criterion", "uncheck", "101", "1"),
    ("finish", "101", "--pause", *_WORDS),
    ("doctor", "renumber", "102", "104"),
    ("doctor", "kept", "discard", KEPT),
    ("autosave", "discard", "--all"),
    ("complete", "101", "--force", f"--note={TOKEN}"),
    ("reopen", "101", f"--note={TOKEN}"),
    ("purge", "101"),
    ("permanent", "close", f"--note={TOKEN}"),
)


def _name(words: tuple[str, ...]) -> str:
    return max((name for name in OPERATIONS if tuple(name.split()) == words[: len(name.split())]), key=len)


def test_every_operation_is_tried() -> None:
    """A new operation cannot be forgotten here."""
    assert {_name(words) for words in (*WRITES, *READS, *REST)} == OPERATIONS.keys()


class Commands:
    """The command line in a repository whose files hold a credential wherever a command writes a text."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.root, self.monkeypatch, self.capfd = root, monkeypatch, capfd

    def __call__(self, *words: str) -> tuple[int, str]:
        """Run a command, and return its exit status and all that it says."""
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        self.capfd.readouterr()
        status = main(list(words))
        return status, "".join(self.capfd.readouterr())

    def commit(self) -> None:
        """Commit all files."""
        for git in (("add", "--all"), ("commit", "--quiet", "--message=state")):
            subprocess.run(["git", *git], cwd=self.root, check=True)

    def leaking(self, steps: tuple[tuple[str, ...], ...], *more: str) -> set[str]:
        """Run commands, and return the names of the operations that say the credential, in text or as JSON."""
        names = set()
        for words in steps:
            for form in ("text", "json"):
                status, said = self(*words, "--format", form, *more)
                assert status in {0, 1, 2}, (words, said)
                if BODY[:8] in said:
                    names.add(_name(words))
        return names


@pytest.fixture
def run(repository: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    """Return the command line in a repository that is set up and committed."""
    monkeypatch.chdir(repository)
    monkeypatch.setenv("TASKSTATE_ACTOR", "ann")
    commands = Commands(repository, monkeypatch, capfd)
    for name, text in (("code.py", "import os\n"), ("web.py", "import code\n"), ("text.md", f"It needs {TOKEN}.\n")):
        (repository / name).write_text(text, encoding="utf-8")
    commands("init")
    with (repository / "taskstate.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[validation]\ncommands = ["make {TOKEN}"]\n')
    commands.commit()
    assert keep(find_private(repository, repository / ".taskstate"), REPLACED, "2026-01-01T00:00:00Z") == KEPT
    drafts.keep(find_private(repository, repository / ".taskstate"), DRAFT)
    return commands


@pytest.fixture
def filled(run: Commands) -> Commands:
    """Return the command line in a repository whose files hold the credential; no writer has said it but verbatim."""
    leaking = set()
    for words in WRITES:
        if words[:2] == ("snapshot", "take"):
            (run.root / "code.py").write_text(f"key = '{TOKEN}'\n", encoding="utf-8")
        status, said = run(*words, "--force-secrets")
        assert status == 0, (words, said)
        leaking |= {_name(words)} if BODY[:8] in said else set()
    assert leaking <= VERBATIM
    run.commit()
    return run


@pytest.mark.slow
def test_only_what_is_verbatim_says_a_credential(filled: Commands) -> None:
    """What reads masks it in text and JSON; what is asked for a text as it is gives it so."""
    assert filled.leaking(READS) | {"start", "handoff new"} == VERBATIM - {
        "handoff successor"
    }  # refuses such a handoff
    assert filled.leaking(REST, "--force-secrets") <= VERBATIM


@pytest.mark.slow
def test_no_escape_brings_a_credential_out(filled: Commands) -> None:
    """The same where YAML and JSON write its first letter by its number, by hand."""
    for path in (filled.root / ".taskstate").rglob("*.md"):
        path.write_text(_escaped(path.read_text(encoding="utf-8")), encoding="utf-8")
    assert filled.leaking(READS) <= VERBATIM
    for form in FORMATS:
        status, said = filled("lint", "--no-cache", "--output-format", form)
        assert status == 1
        assert (BODY[:8] in said) is False, form


def _escaped(text: str) -> str:
    """Return a text in whose front matter and JSON the credential is written with an escape."""
    lines, part = text.split("\n"), ""
    for at, line in enumerate(lines):
        part = {"---": "" if part else "yaml", "```json": "json", "```": ""}.get(line, part)
        if part == "json":
            lines[at] = line.replace(TOKEN, f"\\u0067{TOKEN[1:]}")
        elif part == "yaml" and TOKEN in line:
            key, colon, value = line.partition(": ")
            value = value.strip("\"'").replace(TOKEN, f"\\x67{TOKEN[1:]}")
            lines[at] = f'{key}{colon}"{value}"'
    return "\n".join(lines)


def test_what_is_allowed_is_shown(run: Commands) -> None:
    """A value that the configuration calls no secret is none for what reads, either."""
    run("new", "101", f"--title=JWT {TOKEN}", "--force-secrets")
    assert TOKEN not in run("list")[1]
    with (run.root / "taskstate.toml").open("a", encoding="utf-8") as file:
        file.write('\n[secrets]\nallow = ["^ghp_a1B2"]\n')
    assert TOKEN in run("list")[1]
    assert TOKEN in run("list", "--format=json")[1]


def test_what_names_something_stays() -> None:
    """Keys stay, and under those of paths, ids, revisions and hashes the values, too; words are masked at any depth."""
    named = {"path": TOKEN, "task_id": TOKEN, "commits": [TOKEN], "files": [{"path": TOKEN, "why": TOKEN}], TOKEN: 1}
    masked = {**named, "files": [{"path": TOKEN, "why": "*" * len(TOKEN)}]}
    assert masked_data(named) == masked
    assert masked_data([{"title": f"a {TOKEN}"}, (TOKEN, None, 1.5)]) == [
        {"title": f"a {'*' * len(TOKEN)}"},
        ["*" * len(TOKEN), None, 1.5],
    ]


def test_data_without_a_credential_is_the_same_object() -> None:
    """Nothing is copied where nothing is to be masked, and the search is not loaded."""
    data = {"tasks": [{"id": "101", "title": "JWT Service"}]}
    assert masked_data(data) is data


def test_the_page_names_what_is_verbatim() -> None:
    """Each operation that gives a text as it is stands in the documentation, and no other."""
    page = (Path(__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
    (paragraph,) = re.findall(r"(?s)\*\*Not masked\*\*(.*?)\n\n", page)
    assert set(re.findall(r"`([^`-]+)`", paragraph)) == VERBATIM
