from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli
    from tests.support.place import Place

CODE = (
    "import json, sys; asked = json.load(sys.stdin); print(json.dumps({'accomplishments': "
    "[{'text': 'Told by ' + asked['task']['id'], 'sessions': [asked['first']]}]}))"
)


def command(code: str) -> str:
    """Return a command line that runs Python code."""
    return shlex.join([sys.executable, "-c", code])


def test_summarizer_of_the_command_line(cli: Cli, place: Place) -> None:
    """The program that is given writes the summary, also in a dry run."""
    place.fill(1, 2, 3)
    before = place.text
    assert "+- Told by 101 (S1)" in cli.ok(
        "archive", "101", "--force", "--keep", "1", "--summarizer", command(CODE), "--dry-run"
    )
    assert place.text == before
    out = cli.ok("archive", "101", "--force", "--keep", "1", "--summarizer", command(CODE))
    assert "warning" not in out
    assert "**Key Accomplishments:**\n\n- Told by 101 (S1)\n\n" in place.text


def test_warning_where_the_built_in_one_serves(cli: Cli, place: Place) -> None:
    """A program that fails stops nothing; why it was not used is reported as text, and to programs."""
    place.fill(1, 2, 3)
    failing = command("import sys; sys.exit('no\\x1b[31m model')")
    out = cli.ok("archive", "101", "--force", "--keep", "2", "--summarizer", failing)
    assert "  warning: the summarizer " in out
    assert "it ended with status 1 (no\\x1b[31m model); the built-in summary was used\n" in out
    assert "- did 1 (S1)\n" in place.text
    data = json.loads(
        cli.ok("archive", "101", "--force", "--keep", "1", "--summarizer", "/none/such", "--format", "json")
    )
    assert any("it could not be started" in note for note in data["data"]["notes"])


def test_empty_summarizer_leaves_the_configured_one_out(cli: Cli, place: Place, tmp_path: Path) -> None:
    """What is given on the command line goes before the configuration."""
    place.fill(1, 2, 3)
    ran = tmp_path / "ran"
    place.configure(f"[archive]\nsummarizer = {json.dumps(command(f'open({str(ran)!r}, chr(119))'))}\n")
    assert "warning" not in cli.ok("archive", "101", "--force", "--keep", "2", "--summarizer", "")
    assert not ran.exists()
    cli.ok("trust")
    assert "it printed no JSON" in cli.ok("archive", "101", "--force", "--keep", "1")
    assert ran.exists()


def test_hook_runs_no_configured_summarizer(cli: Cli, place: Place, tmp_path: Path) -> None:
    """The hook archives with the built-in summary and says so, also where the program may run otherwise."""
    place.fill(*range(1, 13))
    ran = tmp_path / "ran"
    program = json.dumps(command(f"open({str(ran)!r}, chr(119))"))
    place.configure(f"[size]\nmax-kb = 2\nwarn-kb = 1\n[archive]\nsummarizer = {program}\n")
    cli.ok("trust")
    out = cli.ok("archive", "--check", "--fix")
    assert "  the summarizer of the configuration is not run by --check: the built-in summary was used\n" in out
    assert not ran.exists()
    assert "- did 1 (S1)\n" in place.text


def test_dry_run_starts_no_configured_summarizer(cli: Cli, place: Place, tmp_path: Path) -> None:
    """A dry run of any command shows the built-in summary and says so, also where the program is allowed."""
    place.fill(1, 2, 3, 4, 5, 6, 7)
    ran = tmp_path / "ran"
    program = json.dumps(command(f"open({str(ran)!r}, chr(119))"))
    place.configure(f"[size]\nmax-kb = 2\nwarn-kb = 1\n[archive]\nsummarizer = {program}\n")
    cli.ok("trust")
    for line in (
        ("session", "add", "101", "--did", "x", "--state", "s", "--next", "n", "--dry-run"),
        ("archive", "101", "--force", "--keep", "1", "--dry-run"),
    ):
        notes = cli.json(*line)["notes"]
        assert any("a dry run does not start the configured" in note for note in notes)
    assert not ran.exists()
    cli.ok("archive", "101", "--force", "--keep", "1")
    assert ran.exists()
