"""Cases of the linter through the server: the same findings as the command line's, place by place.

Both ask the same functions of the linter, so a case of each kind is enough: what is found is held by
`tests/lint/test_cases.py`.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.__main__ import main
from taskstate.model.names import own_file
from tests.support.language_client import PULLED, LanguageClient, applied, edits_of
from tests.support.lint_corpus import CORPUS, Case, CaseQueries, cases, one_of_each_rule, varied_cases

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CASES = varied_cases()
# With a history that lacks the file sessions are renumbered safely, which the cases of TS402 do not have; without the
# archive that the second one speaks of its file is damaged, and nothing is fixed. There, too, a passing feature lacks
# its proof (TS311), and progress (TS304) is counted by the command that records one.
OTHERWISE = ("TS402", "TS105-archived", "TS304")
PLAIN = [case for case in cases() if case.text and not case.queries.answerable and not case.id.startswith(OTHERWISE)]
MENDED = one_of_each_rule(case for case in PLAIN if case.fixed)
LEFT = one_of_each_rule(case for case in PLAIN if not case.fixed)[::5]
_BOM = "\ufeff"


def config_of(case: Case) -> str:
    """Return the configuration of a case as it stands in its file."""
    (path,) = CORPUS.glob(f"*/{case.id}.case")
    head = path.read_text(encoding="utf-8").split("\n%%% ", 1)[0].splitlines()
    return "".join(f"{line.removeprefix('config: ')}\n" for line in head if line.startswith("config: "))


def write(folder: Path, name: str, text: str | bytes) -> None:
    """Write a file of a case."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def write_past(folder: Path, case: Case) -> None:
    """Write what a case says about the compared revision, and the files around it, which stay."""
    (folder / ".taskstate").mkdir(parents=True)
    write(folder, "taskstate.toml", config_of(case))
    own, parts = own_file(case.name), case.queries.parts if isinstance(case.queries, CaseQueries) else []
    archive = f".taskstate/archives/task-{own.id if own else ''}-archive.md"
    if case.gone:
        write(folder, case.name, case.data)
    for name, text in parts:
        kind, _, about = name.partition(" ")
        if kind == "task":
            write(folder, f".taskstate/tasks/task-{about}-state.md", text)
        elif kind in {"handoff", "standard"}:
            write(folder, f".taskstate/{about}" if kind == "handoff" else about, text)
        elif kind in {"earlier", "earlier_archive"} and text:
            write(folder, case.name if kind == "earlier" else archive, text)


def write_present(folder: Path, case: Case) -> None:
    """Write the file of a case, and its archive, as they are now."""
    own, parts = own_file(case.name), case.queries.parts if isinstance(case.queries, CaseQueries) else []
    if case.gone:
        (folder / case.name).unlink()
        return
    for name, text in parts:
        if name == "archive" and text and own:
            write(folder, f".taskstate/archives/task-{own.id}-archive.md", text)
    write(folder, case.name, case.data)  # last, since it may be the archive itself


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository that holds each case in a folder of its own."""
    top = tmp_path_factory.mktemp("cases").resolve()
    git = ["git", "-C", str(top), "-c", "user.name=x", "-c", "user.email=x@localhost"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    chosen = {case.id: case for case in (*CASES, *MENDED, *LEFT)}.values()
    for case in chosen:
        write_past(top / case.id, case)
    subprocess.run([*git, "add", "--all", "--force"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message=past"], check=True)
    for case in chosen:
        write_present(top / case.id, case)
    return top


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanguageClient]:
    """Return an editor; columns count characters.

    Its folder is another one, so that opening a case does not make the server watch the folders of every case again.
    """
    with LanguageClient(tmp_path_factory.mktemp("editor"), PULLED, encoding="utf-32") as client:
        yield client


def places(diagnostics: list[dict[str, Any]]) -> list[tuple[str, int, int, int, int]]:
    """Return code and place of diagnostics, counted from 1 as the command line does."""
    return [
        (
            each["code"],
            each["range"]["start"]["line"] + 1,
            each["range"]["start"]["character"] + 1,
            each["range"]["end"]["line"] + 1,
            each["range"]["end"]["character"] + 1,
        )
        for each in diagnostics
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_server_finds_what_the_command_line_finds(
    case: Case, top: Path, served: LanguageClient, capsys: pytest.CaptureFixture[str]
) -> None:
    """Code and place of each finding are the same, for an open file and for one on disk."""
    root, name = top / case.id, f"{top}/{case.id}/{case.name}"
    main(["lint", "--no-cache", "--format=json", "--root", str(root), str(root if case.gone else root / case.name)])
    findings = json.loads(capsys.readouterr().out)["data"]["findings"]
    mine = [each for each in findings if each["path"] == case.name]
    expected = [(each["code"], each["line"], each["column"], each["end_line"], each["end_column"]) for each in mine]
    if case.gone:
        expected = [(code, 1, 1, 1, 1) for code, *_ in expected]  # an editor has no text to point into
    assert places(served.pull(name)) == expected
    if case.text is not None and not case.text.startswith(_BOM) and not case.gone:
        served.open(name, case.text)
        assert places(served.pull(name)) == expected
        served.close_file(name)


@pytest.mark.parametrize("case", [*MENDED, *LEFT], ids=lambda case: case.id)
def test_the_fixes_for_saving_give_the_text_of_a_fix(case: Case, top: Path, served: LanguageClient) -> None:
    """`source.fixAll` gives the text that `lint --fix` gives, and is not offered where that changes nothing."""
    name, text = f"{top}/{case.id}/{case.name}", case.text or ""
    served.open(name, text)
    actions = served.actions(name, only=["source.fixAll"])
    served.close_file(name)
    assert [action["kind"] for action in actions] == ["source.fixAll.taskstate"] * bool(case.fixed)
    if actions and text.isascii():  # with others the columns count characters here
        assert applied(text, edits_of(actions[0])).encode() == case.fixed
