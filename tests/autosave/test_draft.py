"""What a draft says of a session, by its events: each case is a file, events in and texts out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskstate.autosave.draft import Circumstances, draft_of, ending
from taskstate.autosave.work import program, work_of
from taskstate.syntax.spans import one_line
from taskstate.transcripts import events as kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.autosave.draft import Draft

ROOT = Path("/work/shop")
FILES = sorted((Path(__file__).parents[1] / "cases" / "autosave").glob("draft-*.json"))


def event_of(values: dict[str, Any]) -> Any:  # noqa: ANN401 - one of the events
    """Return an event from its kind and its fields; its moment is of no account here."""
    fields = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items() if key != "is"}
    return getattr(kinds, values["is"])(**{"at": "", **fields})


def drafted(events: Sequence[Any], changed: dict[str, str], checks: Sequence[str] = (), **known: Any) -> Draft:  # noqa: ANN401
    """Return the draft of a session with these events."""
    return draft_of(work_of(events, changed, ROOT, checks), events, Circumstances(**known))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_draft_says_what_its_case_says(path: Path) -> None:
    """Facts and words are those of the case, and no others."""
    case = json.loads(path.read_text(encoding="utf-8"))
    known = {key: tuple(value) if isinstance(value, list) else value for key, value in case.get("known", {}).items()}
    draft = drafted([*map(event_of, case["events"])], case.get("changed", {}), case.get("checks", ()), **known)
    facts = {key: [*values] for key, values in draft.facts.items() if values}
    assert {"facts": facts, "words": {key: [*values] for key, values in draft.words.items()}} == case["draft"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('A=1 DB="correct horse" pg_dump', "pg_dump"),
        ('"hunter2" x', "a command"),
        ("echo '' hunter2", "echo"),
        ("docker run \\\n -e KEY=x", "docker run"),
        ("git -C shop push", "git"),
        ("python3 - <<'EOF'\nhunter2\nEOF", "python3"),
        ('cd "my wife" && /opt/x/deploy.sh hunter2', "deploy.sh"),
        ("$(cat key)", "a command"),
        ("", "a command"),
    ],
)
def test_of_a_command_its_program_is_a_fact(line: str, expected: str) -> None:
    """What a program is given is no fact: not what is assigned or quoted, and no argument but a known subcommand."""
    assert program(line) == expected


@pytest.mark.parametrize("reason", ["other", "session-end", "a\n# `b`" * 20])
def test_a_word_for_an_ending_that_says_nothing_is_not_told(reason: str) -> None:
    """Whatever a client calls the end of a session, only the words that we know are told, and in our own."""
    assert (ending(reason), ending("clear")) == ("ended", "ended when a person cleared the conversation")


TEXTS = st.text() | st.sampled_from(
    ["`x`", "<!-- a", "# b", "- c\n- d", "```\ne", "\x1b[31mf", "\u202eg", "> h", "@a #1"]
)


@given(
    st.lists(
        st.one_of(
            st.builds(kinds.Prompt, st.just(""), TEXTS),
            st.builds(kinds.Words, st.just(""), TEXTS, st.booleans()),
            st.builds(kinds.Command, st.just(""), TEXTS, st.none() | st.integers(0, 255), TEXTS),
            st.builds(kinds.FileEdit, st.just(""), TEXTS.filter(bool)),
            st.builds(kinds.Interruption, st.just("")),
        ),
        max_size=8,
    )
)
def test_whatever_was_said_is_one_printable_line_each(events: list[Any]) -> None:
    """A quote begins no line, no fence and no comment, holds no control character, and a draft is at most 4 KB."""
    draft = drafted(events, {"a\nb`.py": "changed"}, last_words="".join(map(str, events))[:300])
    values = [each for part in (draft.facts, draft.words) for texts in part.values() for each in texts]
    assert all(one_line(each) == each for each in values), values
    assert not [each for each in values if "<!--" in each or "```" in each]
    assert len(draft.text.encode()) <= 4096


def test_no_credential_is_in_a_draft() -> None:
    """A token is masked wherever it was said: in a command, a path or words; so is a key of many lines."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    body = "\n".join("MIIEpAIBAAKCAQEA7bq3nGkVbZ0xJwq8Yt5Lr2Uc9Xo1Ss4Pd6Fm8Hj0Kl" for _ in range(4))
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    events = [
        kinds.Prompt("", f"Use {token} for it"),
        kinds.Command("", f"curl -H 'Authorization: Bearer {token}' x", 7, token),
        kinds.Command("", "pytest -q", 1, f"{key}\n1 failed in 0.1s"),
        kinds.Words("", f"It turned out that {token} is old.\n{key}"),
        kinds.ToDo("", 0, (f"rotate {token}",)),
    ]
    draft = drafted(events, {f"keys/{token}.txt": "new"}, last_words=key)
    said = json.dumps(draft._asdict())
    assert token[4:12] not in said
    assert "MIIEpAIB" not in said
