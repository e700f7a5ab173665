"""The small job of the benchmark `turns`, as it is done without taskstate: with plain notes, and with backlog.md.

Plain notes are a file that each agent reads and appends to, and git. backlog.md is a tracker from npm that prints its
own instructions for agents. Its job here follows them with as few commands as they allow: one edit where one is enough,
no commit of its own, no look at `--help`. What each sees in this job was tried by hand:

| what happens | plain notes | backlog.md | taskstate |
| --- | --- | --- | --- |
| the tests fail at the end | taken | taken: `-s Done` ends well, with a criterion unchecked, too | refused |
| code changes between two roles | not seen | not seen | refused, with the diff |
| a criterion is reworded by hand | not seen | not seen | not seen: only in a sealed context |
| who did what | the name that an agent writes | the last assignee, authors of comments | the agent of each session |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from benchmarks.tools import npm

if TYPE_CHECKING:
    from pathlib import Path

GIT = "git -c user.name=somebody -c user.email=somebody@example.invalid"
CHECK = "python3 -m unittest --quiet"
CODE = 'def slug(title):\n    return title.lower().replace(" ", "-")\n'
MORE = CODE + "\n\ndef unslug(slug):\n    return slug.replace('-', ' ')\n"
TESTS = "import unittest\n\nfrom slug import slug\n\n\nclass Slugs(unittest.TestCase):\n"
TESTS += '    def test_words_are_joined(self):\n        self.assertEqual(slug("Two words"), "two-words")\n'
MORE_TESTS = TESTS.replace("import slug\n", "import slug, unslug\n")
MORE_TESTS += '\n    def test_words_are_parted(self):\n        self.assertEqual(unslug("two-words"), "two words")\n'
_BACKLOG = "backlog.md@1.52.0"
_NOTE = "printf '\\n## {who}\\n\\n- did: {did}\\n- next: {next}\\n' >> NOTES.md"
_VIEW = "backlog task view TASK-1 --plain"
_EDIT = "backlog task edit TASK-1"


class Peer(NamedTuple):
    """Another way to do the small job: what an agent runs once to set it up, in the job, and to learn how.

    `programs` is the folder of the peer's programs, if it has any. The steps are commands, and files that are written.
    """

    name: str
    sees: str
    steps: tuple[str | dict[str, str], ...]
    set_up: str = "true"
    instructions: tuple[str, ...] = ()
    programs: Path | None = None


PLAIN_NOTES = Peer(
    name="plain notes",
    sees="they see neither a regression nor a drift, and who did what only as it was written down",
    steps=(
        "printf '# Slugs back to words\\n\\nunslug() gives the words of a slug; tested.\\n' > NOTES.md",
        "cat NOTES.md",
        {"slug.py": MORE},
        _NOTE.format(who="ann", did="wrote unslug()", next="its test"),
        "cat NOTES.md && git status --short && git diff",
        {"test_slug.py": MORE_TESTS},
        CHECK,
        _NOTE.format(who="bob", did="wrote its test; all pass", next="review it"),
        f"{GIT} commit --all --quiet --message 'unslug()'",
        "cat NOTES.md",
        "git show",
        _NOTE.format(who="cid", did="read the diff", next="validate it"),
        "cat NOTES.md",
        CHECK,
        _NOTE.format(who="dan", did="ran all tests", next="done"),
    ),
)
_BACKLOG_STEPS: tuple[str | dict[str, str], ...] = (
    "backlog search slug --plain",
    "backlog task create 'Slugs back to words' -d 'Give the words of a slug.' --ac 'A slug gives its words'",
    _VIEW,
    f"{_EDIT} -s 'In Progress' -a @ann --plan '1. Write unslug(). 2. Write its test.'",
    {"slug.py": MORE},
    f"{_EDIT} --append-notes 'Wrote unslug(), without a test. Next: its test.'",
    f"{_VIEW} && git status --short && git diff",
    f"{_EDIT} -a @bob",
    {"test_slug.py": MORE_TESTS},
    CHECK,
    f"{_EDIT} --append-notes 'Wrote its test; all pass.' --comment 'Review it.' --comment-author @bob",
    _VIEW,
    "git diff",
    f"{_EDIT} --comment 'Read the diff. Nothing is open.' --comment-author @cid",
    _VIEW,
    CHECK,
    f"{_EDIT} -a @dan --check-ac 1 --final-summary 'unslug() gives the words of a slug. All tests pass.' -s Done",
)
# The file that is in front of every agent, the guide that is required reading, and the one for what the agent does:
# who creates, ann, bob, cid, and dan, who finishes.
_BACKLOG_GUIDES = tuple(
    f"cat AGENTS.md && backlog instructions overview && backlog instructions task-{guide}"
    for guide in ("creation", "execution", "execution", "execution", "finalization")
)


def backlog(folder: Path) -> Peer:
    """Install backlog.md from npm into a folder, and return it.

    Raises:
        RuntimeError: npm is not there, or cannot install it; the message is the reason.
    """
    npm(folder, (_BACKLOG,))
    return Peer(
        name=_BACKLOG,
        sees="it sees neither a regression nor a drift; of who did what, the last assignee and the authors of comments",
        steps=_BACKLOG_STEPS,
        set_up="backlog init Slugs --defaults --agent-instructions agents --include-remote false",
        instructions=_BACKLOG_GUIDES,
        programs=folder / "node_modules" / ".bin",
    )
