from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.setup.clients import CLIENTS, EVENTS
from tests.support.place import tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.agents.conftest import Client

STATE = ".taskstate/tasks/task-101-state.md"
NONSENSE = [
    b"[",
    b"[]",
    b'"x"',
    b"\xff\xfe",
    b"[" * 50_000,
    b'{"cwd": "/nowhere", "tool_input": 7}',
    b'{"tool_input": {"file_path": ["x"], "edits": [1, {"old_string": 2}]}}',
    b'{"tool_input": {"file_path": "a\\u0000b", "content": "x"}, "cwd": "a\\u0000b"}',
    b'{"tool_input": "*** Begin Patch\\n*** Update File: x\\n@@\\n-a\\n+b\\n*** End Patch"}',
    b'{"tool_input": {"command": [1, null]}, "workspace_roots": [], "agent_type": {}}',
]


def told(answer: Any) -> str:  # noqa: ANN401 - any JSON
    """Return what a client adds to the model's context."""
    return str(answer["hookSpecificOutput"]["additionalContext"])


@pytest.mark.parametrize("event", EVENTS)
def test_nonsense_never_breaks_the_client(client: Client, event: str) -> None:
    """Whatever stands on standard input, the answer is JSON, the exit status 0, and no file is touched."""
    before = tree(client.place.root)
    for data in NONSENSE:
        answer = client.hook(event, stdin=data)
        assert "decision" not in answer, data[:80]
        assert "permissionDecision" not in json.dumps(answer), data[:80]
        assert tree(client.place.root) == before, data[:80]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("compacted",), "there is no event 'compacted'"),
        (("stop", "--agent", "clade"), "did you mean claude?"),
        (("stop", "--bogus"), "unknown option '--bogus'"),
        ((), "EVENT"),
        (("stop", "again"), "again"),
    ],
)
def test_wrong_arguments_are_no_refusal(client: Client, arguments: tuple[str, ...], why: str) -> None:
    """A client would take exit status 2 as a block, so wrong arguments are answered neutrally, and said."""
    assert client.hook(*arguments) == {}
    assert why in client.said


def test_the_answer_is_all_that_is_printed(client: Client) -> None:
    """With JSON asked for there is no second object behind the answer, which the client could not read."""
    assert client.hook("stop", "--format", "json", given={}) == {}


@pytest.mark.parametrize("name", CLIENTS)
def test_fault_is_logged_once_in_a_line(client: Client, name: str) -> None:
    """The log names the time, the client, the event and the reason; a credential in it is masked."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert client.hook(f"{token}\nx", "--agent", name) == {}
    assert client.log.count("\n") == 1
    assert f" {name} " in client.log
    assert "there is no event" in client.log
    assert token not in client.log


def test_log_stays_small(client: Client) -> None:
    """A hook that fails at each call does not fill the disk, and the newest line is there."""
    folder = client.place.workspace.private.write
    assert folder
    client.hook("bogus")
    (folder / "hooks.log").write_bytes(b"old line\n" * 10_000)
    client.hook("newest")
    assert len(client.log) < 64 * 1024
    assert client.log.startswith("old line\n")
    assert client.log.endswith("\n")
    assert "newest" in client.log.splitlines()[-1]


def test_no_repository_is_neutral(client: Client) -> None:
    """Where taskstate is not set up there is nothing to say, and nothing is created."""
    other = client.place.root.parent / "other"
    other.mkdir()
    assert client.hook("session-start", given={"cwd": str(other)}) == {}
    assert "taskstate init" in client.said
    assert [*other.iterdir()] == []


@pytest.mark.parametrize("event", ["session-start", "after-edit", "before-edit", "subagent-start"])
def test_unreadable_state_file_is_neutral_or_told(client: Client, event: str) -> None:
    """A state file that cannot be read never blocks: the answer is neutral, or says what is wrong with the file."""
    client.place.path.write_bytes(b"\xff\xfe\x00nothing")
    edit = {"tool_input": {"file_path": STATE, "content": "---\ntaskstate: 1\n---\n"}}
    answer = client.hook(event, given=edit)
    assert "permissionDecision" not in json.dumps(answer)


def test_linked_state_file_is_neutral(client: Client) -> None:
    """A link in the place of a state file is not followed; the log says so."""
    target = client.place.root.parent / "elsewhere.md"
    client.place.path.rename(target)
    client.place.path.symlink_to(target)
    assert client.hook("session-start") == {}
    assert "link" in client.log


def test_hooks_begin_nothing(client: Client) -> None:
    """No event begins a turn, changes a file, or runs a command of the repository."""
    client.place.configure('[validation]\n"*" = ["touch ran.txt"]\n')
    client.place.trust()
    before = tree(client.place.root)
    for event in EVENTS:
        client.hook(event, given={"source": "compact"})
    assert tree(client.place.root) == before


def test_stop_is_blocked_once_in_a_turn(client: Client) -> None:
    """An agent that has its reason to go on is not held up at every stop; another session, or turn, is told anew."""
    client.arrange("changed")
    assert client.hook("stop")["decision"] == "block"
    assert client.hook("stop") == {}
    assert client.hook("stop", given={"session_id": "another"})["decision"] == "block"
    assert client.hook("stop", given={"session_id": "another"}) == {}
    client.run("finish", "101", "--did", "D", "--state", "S", "--next", "N")
    client.arrange("turn")
    client.place.write("c.txt", "more\n")
    assert "c.txt" in client.hook("stop")["reason"]


DAMAGE: dict[str, Callable[[Client], object]] = {
    "a key": lambda client: client.place.path.write_text(client.place.text.replace("delta:", "delta3:")),
    "empty": lambda client: client.place.path.write_bytes(b""),
    "bytes": lambda client: client.place.path.write_bytes(b"\xff\xfe"),
    "gone": lambda client: client.place.path.unlink(),
    "a conflict": lambda client: client.place.path.write_text(
        client.place.text.replace("---\n", "---\n<<<<<<< HEAD\n", 1)
    ),
    "set back": lambda client: client.place.git("checkout", "--quiet", "HEAD", "--", STATE),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_of_the_file_does_not_silence_the_stop(client: Client, damage: Callable[[Client], object]) -> None:
    """The work is told by git and the note of the open turn; what is to be done works as it is printed."""
    client.place.commit("Task: 101")
    client.arrange("changed")
    damage(client)
    reason = client.hook("stop")["reason"]
    assert "changed are b.txt" in reason
    assert "`taskstate doctor --fix` first" in reason
    assert client.hook("stop") == {}
    client.run("doctor", "--fix")
    assert "\ndelta:\n" in client.place.text


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_session_begins_with_what_is_wrong(client: Client, damage: Callable[[Client], object]) -> None:
    """Instead of a brief of a damaged file stand whose turn is open, and what mends it and goes on, as printed."""
    client.place.commit("Task: 101")
    client.arrange("turn")
    damage(client)
    for given in ({}, {"source": "compact"}):
        said = told(client.hook("session-start", given=given))
        assert said.startswith("The current task is 101: ann works on it since ")
        assert "does not tell of it any more: `taskstate doctor --fix` first. Then `taskstate start 101 --agent" in said
        assert [each for each in ("No turn is open", "# Task 101", "there is no current task") if each in said] == []
    client.run("doctor", "--fix")
    assert "resumed" in client.run("start", "101", "--agent", "ann")


@pytest.mark.parametrize(
    ("damage", "branch", "words"),
    [
        ("empty", "101-jwt", "is damaged: it is empty: "),
        ("empty", "main", "is damaged: it is empty: "),
        ("bytes", "101-jwt", "is not UTF-8"),
        ("gone", "101-jwt", "the file itself, session 1, session 2 are gone"),
        ("a conflict", "main", "is damaged: line 2: "),
    ],
)
def test_a_damaged_file_is_told_instead_of_its_brief(client: Client, damage: str, branch: str, words: str) -> None:
    """Also without an open turn, and where nothing but the file names the task."""
    client.arrange("recorded")
    client.run("finish", "101", "--did", "D", "--state", "S", "--next", "N")
    client.place.git("checkout", "--quiet", "-B", branch)
    DAMAGE[damage](client)
    said = told(client.hook("session-start"))
    assert words in said
    assert "`taskstate doctor --fix`" in said
    assert "# Task 101" not in said
    client.run("doctor", "--fix")
    assert "# Task 101" in told(client.hook("session-start"))


@pytest.mark.parametrize("damage", ["empty", "bytes", "a conflict"])
def test_a_file_that_cannot_be_read_is_no_other_branch(client: Client, damage: str) -> None:
    """After a switch it may tell of no turn; that it tells of nothing is damage, and the work is asked for."""
    client.place.commit("Task: 101")
    client.arrange("changed")
    client.place.git("checkout", "--quiet", "-b", "feature")
    DAMAGE[damage](client)
    assert "`taskstate doctor --fix` first" in client.hook("stop")["reason"]


def test_who_works_on_it_is_told_instead_of_a_start_that_is_refused(client: Client) -> None:
    """In another worktree, and to another actor, whose stops the turn does not hold up either."""
    client.arrange("changed")
    client.place.git("worktree", "add", "--quiet", "../apart", "-b", "101-apart")
    client.monkeypatch.setenv("TASKSTATE_ACTOR", "bob")
    for folder, where in ((client.place.root, ""), (client.place.root.parent / "apart", " in the worktree main")):
        client.monkeypatch.chdir(folder)
        client.place.write(f"{folder}/c.txt", "new\n")
        said = told(client.hook("session-start"))
        assert f"; ann works on it{where} since " in said
        assert ": begin and end no turn here, and hand back to ann what you did" in said
        assert "goes on with it" not in said
        assert client.hook("stop") == {}
    client.monkeypatch.chdir(client.place.root)
    client.monkeypatch.setenv("TASKSTATE_ACTOR", "ann")
    assert "goes on with it" in told(client.hook("session-start"))
    assert client.hook("stop")["decision"] == "block"


def test_a_sub_agent_leaves_the_turn_to_its_caller(client: Client) -> None:
    """Where one is open, here or elsewhere, it is told so; where none is, it may begin one."""
    client.place.commit("Task: 101")
    client.place.git("worktree", "add", "--quiet", "../apart", "-b", "101-apart")
    apart = {"cwd": str(client.place.root.parent / "apart")}
    words = "its turn is your caller's: neither start nor finish it"
    assert words not in told(client.hook("subagent-start"))
    client.arrange("turn")
    assert told(client.hook("subagent-start")).endswith(words)
    assert told(client.hook("subagent-start", given=apart)).endswith(words)


def test_a_file_of_another_branch_is_not_damaged(client: Client) -> None:
    """Where another branch is checked out that tells of no turn, its work is not asked for."""
    client.place.commit("Task: 101")
    client.place.git("branch", "other")
    client.arrange("turn")
    client.place.commit("Begun")
    client.place.git("checkout", "--quiet", "other")
    client.place.write("b.txt", "new\n")
    assert client.hook("stop") == {}
    client.place.git("checkout", "--quiet", "101-jwt")
    assert "b.txt" in client.hook("stop")["reason"]


@pytest.mark.parametrize(
    ("mode", "allowed", "blocks"),
    [
        ("acceptEdits", False, False),
        ("acceptEdits", True, True),
        ("dontAsk", False, False),
        ("default", False, True),
        ("bypassPermissions", False, True),
    ],
)
def test_stop_asks_for_nothing_that_the_client_forbids(
    client: Client, mode: str, *, allowed: bool, blocks: bool
) -> None:
    """Where nobody can be asked and nothing is allowed, the person hears of it once, and the agent is not held up."""
    client.monkeypatch.delenv("CLAUDE_CODE_ENTRYPOINT", raising=False)
    client.monkeypatch.setenv("HOME", str(client.place.root.parent))
    client.arrange("changed")
    if allowed:
        client.place.write(".claude/settings.local.json", '{"permissions": {"allow": ["Bash(taskstate finish:*)"]}}')
    first = client.hook("stop", given={"permission_mode": mode})
    assert (first.get("decision") == "block") is blocks
    assert ("init --agent claude --allow" in first.get("systemMessage", "")) is not blocks
    assert client.hook("stop", given={"permission_mode": mode}) == {}


def test_who_only_reads_is_asked_at_a_later_stop(client: Client) -> None:
    """A plan mode writes nothing; when the agent works again it hears of what is in no session."""
    client.arrange("changed")
    assert client.hook("stop", given={"permission_mode": "plan"}) == {}
    assert "b.txt" in client.hook("stop", given={"permission_mode": "default"})["reason"]


def test_change_from_before_the_turn_is_not_its_work(client: Client) -> None:
    """What was not committed when the turn began does not block its stop."""
    client.place.write("b.txt", "from before\n")
    client.arrange("turn")
    assert client.hook("stop") == {}


def test_committed_work_is_work(client: Client) -> None:
    """Commits of an open turn are in no session either."""
    client.arrange("changed")
    client.place.commit("Task: 101")
    assert "new commits" in client.hook("stop")["reason"]


def test_safe_fixes_are_applied_on_request(client: Client) -> None:
    """With `--fix` an edited state file is mended before what is left is handed back; without, it is not touched."""
    client.place.text = client.place.text.replace("## 4. Progress Log", "## 4. progress log")
    edit = {"tool_input": {"file_path": str(client.place.path), "old_string": "a", "new_string": "b"}}
    before = client.place.text
    assert "TS205" in told(client.hook("after-edit", given=edit))
    assert client.place.text == before
    assert client.hook("after-edit", "--fix", given=edit) == {}
    assert "## 4. Progress Log" in client.place.text


def test_a_finding_is_told_once_in_a_session(client: Client) -> None:
    """After another edit there stands what is new, and how many others are left; another agent reads them all."""
    edit = {"tool_input": {"file_path": str(client.place.path), "old_string": "a", "new_string": "b"}}
    text = client.place.text
    client.place.text = text.replace("status: created", "status: nearly")
    for who in ({"session_id": "s1"}, {"session_id": "s1", "agent_id": "a1"}, {}, {}, {"session_id": "s1"}):
        assert "TS101" in told(client.hook("after-edit", given=edit | who))
    client.place.text = client.place.text.replace("## 4. Progress Log", "\n## 4. progress log")
    again = told(client.hook("after-edit", given=edit | {"session_id": "s1"}))
    assert "TS205" in again
    assert "TS101" not in again
    assert "- 1 finding as told before: `taskstate lint`" in again
    client.place.text = text
    assert client.hook("after-edit", given=edit | {"session_id": "s1"}) == {}
    client.place.text = text.replace("status: created", "status: nearly")
    assert "TS101" in told(client.hook("after-edit", given=edit | {"session_id": "s1"}))


def test_a_session_by_hand_needs_no_counting(client: Client) -> None:
    """The counts are the tool's own: no word to the agent, no change under its hands; the next command mends them."""
    entry = "**What I did:** a\n\n**Issues encountered:** None\n\n**Current state:** b\n\n**Next steps:** c\n"
    log = f"## 4. Progress Log\n\n### Session 1 - 2026-02-01 10:00\n\n{entry}\n"
    client.place.text = client.place.text.replace("## 4. Progress Log\n\n", log).replace('"0%"', '"50%"')
    client.place.text = client.place.text.replace("status: created", "status: in_progress")
    edit = {"tool_input": {"file_path": str(client.place.path), "old_string": "a", "new_string": "b"}}
    before = client.place.text
    assert client.hook("after-edit", given=edit) == client.hook("after-edit", "--fix", given=edit) == {}
    assert client.place.text == before
    client.run("criterion", "check", "101", "1")
    assert "total: 1" in client.place.text
    assert '"0%"' in client.place.text


def test_no_hook_hands_hidden_text_to_the_model(client: Client) -> None:
    """A finding quotes what stands in the file; what nobody sees is written out."""
    client.place.text = client.place.text.replace("title: JWT Service", 'title: "JWT \\u202eService\\U000e0041"')
    edit = {"tool_input": {"file_path": str(client.place.path), "old_string": "a", "new_string": "b"}}
    said = json.dumps(client.hook("after-edit", given=edit), ensure_ascii=False)
    assert "TS206" in said
    assert [each for each in "\u202e\U000e0041" if each in said] == []


def test_no_hook_hands_a_credential_to_the_model(client: Client) -> None:
    """A finding quotes what stands in the file, and the first page its title: with stars for a credential."""
    body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    client.place.text = client.place.text.replace("title: JWT Service", f'title: "JWT \\x67hp_{body}"')
    edit = {"tool_input": {"file_path": str(client.place.path), "old_string": "a", "new_string": "b"}}
    said = [client.hook("after-edit", given=edit), client.hook("session-start")]
    assert all(said)
    assert body[:8] not in json.dumps(said)


def test_file_that_must_not_be_fixed_is_told(client: Client) -> None:
    """Where the fix is refused the agent hears why, with the findings."""
    client.place.text = client.place.text.replace("total: 0", "total: 5")
    edit = {"tool_input": {"file_path": str(client.place.path), "old_string": "a", "new_string": "b"}}
    assert "of the 5 sessions that it counts" in told(client.hook("after-edit", "--fix", given=edit))


def test_environment_names_the_task(client: Client) -> None:
    """TASKSTATE_TASK is stronger than the branch; one that does not exist counts for nothing."""
    client.place.new("102", title="Other")
    for named, expected in (("102", "102"), ("999", "101"), ("../x", "101")):
        client.monkeypatch.setenv("TASKSTATE_TASK", named)
        assert told(client.hook("session-start")).startswith(f"The current task is {expected}:")


@pytest.mark.parametrize(
    ("branch", "task"),
    [("feature/auth-2-login", "auth-2"), ("2-login", "2"), ("TASK-101", "101"), ("v2", ""), ("1010", "")],
)
def test_branch_names_the_task(client: Client, branch: str, task: str) -> None:
    """An id stands in the branch's name as a word, and the longest one counts."""
    client.place.new("auth-2", title="Auth")
    client.place.new("2", title="Two")
    client.place.git("checkout", "--quiet", "-b", branch)
    said = told(client.hook("session-start"))
    assert said.startswith(
        f"The current task is {task}: the branch is" if task else "taskstate keeps tasks here; there is no"
    )


def test_newest_session_names_the_task(client: Client) -> None:
    """Where nothing else says it, the open task with the newest session is at hand."""
    client.place.new("102", title="Other")
    client.place.git("checkout", "--quiet", "main")
    client.place.add("Worked.")
    said = told(client.hook("session-start"))
    assert said.startswith("The current task is 101: it has the newest session")


def test_a_task_that_waits_is_not_at_hand(client: Client) -> None:
    """What depends on an open task is not offered, whatever its sessions: `next` names another one, too."""
    client.place.git("checkout", "--quiet", "main")
    client.place.add("Worked.")
    client.place.new("102", title="Other")
    client.run("edit", "101", "--depends-on", "102")
    assert "`taskstate next` names one" in told(client.hook("session-start"))
    client.run("drop", "102", "--note", "no")
    client.run("edit", "101", "--no-depends-on")
    assert told(client.hook("session-start")).startswith("The current task is 101")


def test_without_an_open_task_none_is_promised(client: Client) -> None:
    """`next` is named where it finds one."""
    client.place.git("checkout", "--quiet", "main")
    assert "`taskstate next` names one" in told(client.hook("session-start"))
    client.run("drop", "101", "--note", "no")
    assert "taskstate next" not in told(client.hook("session-start"))
    client.arrange("no-task")
    assert "`taskstate new ID --title T`" in told(client.hook("session-start"))


def test_task_that_is_closed_is_not_at_hand(client: Client) -> None:
    """A branch that is named after a task which was given up brings no brief."""
    client.run("drop", "101", "--note", "no")
    said = told(client.hook("session-start"))
    assert "there is no current task" in said


def test_confirmations_belong_to_a_sub_agent_by_its_id(client: Client) -> None:
    """What one of a type has confirmed the next one has not; without an id the type is its name."""
    client.arrange("shared")
    client.run("permanent", "ack", "--agent", "reviewer:a1", "--version", "1")
    said = {
        name: json.dumps(client.hook("subagent-start", given={"agent_type": "reviewer", **given}))
        for name, given in {"first": {"agent_id": "a1"}, "second": {"agent_id": "a2"}, "none": {}}.items()
    }
    assert "has confirmed" not in said["first"]
    assert "permanent ack --agent reviewer:a2 --version 1" in said["second"]
    assert "permanent ack --agent reviewer --version 1" in said["none"]


def test_a_sub_agent_in_a_worktree_of_its_own_is_told_the_turn_of_its_caller(client: Client) -> None:
    """As long as only one is open elsewhere: of two nobody can say which is meant."""
    client.run("new", "102", "--title", "Other")
    client.place.commit("tasks")
    client.place.git("worktree", "add", "--quiet", "../apart", "-b", "apart")
    apart = {"cwd": str(client.place.root.parent / "apart"), "agent_type": "worker"}
    assert client.hook("subagent-start", given=apart) == {}
    client.run("start", "101", "--agent", "ann")
    said = told(client.hook("subagent-start", given=apart))
    assert said.startswith("Current task: 101, ann works on it in the worktree main since ")
    assert "; read `taskstate brief 101`; its turn is your caller's" in said
    client.run("start", "102", "--agent", "ann")
    assert client.hook("subagent-start", given=apart) == {}


@pytest.mark.parametrize(
    "given",
    [
        {"agent_type": "Explore"},
        {"agent_type": "planner", "permission_mode": "plan"},
    ],
)
def test_who_only_reads_is_asked_to_read_only(client: Client, given: dict[str, str]) -> None:
    """It is told the version and where it stands, and no command that writes."""
    client.arrange("shared")
    said = json.dumps(client.hook("subagent-start", given={**given, "agent_id": "a1"}))
    assert "taskstate show P1" in said
    assert "permanent ack" not in said


@pytest.mark.parametrize(
    ("tools", "asked"),
    [
        ("tools: Read, Grep\n", False),
        ("tools:\n  - Read\n  - Grep\nmodel: haiku\n", False),
        ("tools: Read, Bash\n", True),
        ("tools: Read, mcp__taskstate__permanent\n", True),
        ("description: no tools: at all\n", True),
        ("model: haiku\n---\ntools: as you like\n", True),
    ],
)
def test_who_runs_no_command_is_told_of_files(client: Client, tools: str, *, asked: bool) -> None:
    """The file of a sub-agent in the repository says which tools it has; without a list it has all."""
    client.arrange("shared")
    client.place.write(".claude/agents/reader.md", f"---\nname: reader\n{tools}---\nBash reads.\n")
    said = json.dumps(client.hook("subagent-start", given={"agent_type": "reader", "agent_id": "a1"}))
    assert ("permanent ack" in said) is ("`" in said) is asked
    assert (STATE in said) is (".taskstate/tasks/task-P1-state.md" in said) is not asked


def test_after_a_compaction_the_shared_context_comes_first(client: Client) -> None:
    """The command that recovers is named with the agent of the turn; without a permanent task it is not."""
    assert "permanent recover" not in json.dumps(client.hook("compaction"))
    client.arrange("shared")
    client.arrange("turn")
    said = json.dumps(client.hook("session-start", given={"source": "compact"}))
    assert said.index("permanent recover --agent ann") < said.index("The current task is 101")
