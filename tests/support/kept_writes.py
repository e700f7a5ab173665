"""How each operation that writes is played, and by which text one knows afterwards that it wrote.

A text is known to nobody else by its token. Of the words and texts, `{id}` is the task, `{token}` the token, `{k}` 1 or
2, `{fresh}` an id that was never given, `{file}` a file with some content, `{version}` that of the permanent task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

STATUS = "task-{id}-state.md %s ==="
# Texts that are found, each with its place.
_FILES = ("file", r"^=== task-\w+-state\.md |^subtasks: .*")
_SNAPSHOT = ("snapshot", r'implementer: \{snapshot_time.* tree: "\w{40}"')
_CONTEXT = ("context", r'^context: \{sealed_at: "[^"]+"')
_INPUT = ("input", r"<!-- taskstate: input \w+ r\d+ .*-->")
_EVENT = "note: {token}"
_OF_STATUS = ("status",)


class Write(NamedTuple):
    """A command that writes.

    `leaves` are texts that stand in the files of its task afterwards. `finds` is a place, with a pattern for texts
    among the lines that it adds. In a `place` stands only the newest text: it withdraws the one before. `ends` are
    places whose texts may go as well. One without texts of its own says in `why` what it does instead. `first` is what
    git does before; `begins` is the content of `{file}`; `changes` is a file to which somebody adds a line; `weight` is
    how often it is drawn. One that is `bound` to work does so on a sound file of an open task, one that is `slow` once
    a second, a `shared` one on the permanent task.
    """

    words: str
    leaves: tuple[str, ...] = ("{token}",)
    finds: tuple[str, str] = ("", "")
    place: str = ""
    ends: tuple[str, ...] = ()
    why: str = ""
    first: tuple[str, ...] = ()
    begins: str = "{token}"
    changes: str = ""
    weight: int = 2
    bound: bool = False
    slow: bool = False
    shared: bool = False


def nothing(words: str, why: str, weight: int = 1) -> Write:
    """Return a command that leaves no text of its own."""
    return Write(words, (), why=why, weight=weight)


_SESSION = "--did 'Did it.' --state {token} --next 'Go on.'"
_FORM = "it changes the form of what stands there, or nothing"
_ARTIFACTS = "it writes artifacts alone, which are not copied"
_MOVES = "it moves what stands there"

WRITES: Mapping[str, tuple[Write, ...]] = {
    "new": (
        Write(
            "new {fresh} --title {token} --description d --feature 'f1=the feature'",
            ("title: {token}",),
            _FILES,
            weight=3,
        ),
        Write("new {fresh} --title t --description {token} --criterion c", finds=_FILES, weight=1),
    ),
    "start": (Write("start {id} --agent {token}", ("agent: {token}, started_at",), place="turn", weight=4),),
    "finish": (
        Write(f"finish {{id}} {_SESSION}", ends=("turn", *_OF_STATUS), weight=3),
        Write(f"finish {{id}} {_SESSION} --pause", ends=("turn", *_OF_STATUS), weight=1),
    ),
    "session add": (
        Write(f"session add {{id}} {_SESSION}", ends=_OF_STATUS, weight=12, bound=True),
        Write(  # equal to its like but for a comment
            "session add {id} --did 'Did it.' --state 'It works. <!-- {token} -->' --next 'Go on.'",
            ends=_OF_STATUS,
            weight=3,
            bound=True,
        ),
    ),
    "session restore": (nothing("session restore {id} {k} --from HEAD~1", "it brings back what once stood there"),),
    "feature add": (Write("feature add {id} {token} 'It does {token}'", ("It does {token}",), weight=4),),
    "feature pass": (Write("feature pass {id} f{k} --evidence {token}", place="feature {k}", weight=4),),
    "feature fail": (Write("feature fail {id} f{k} --evidence {token}", place="feature {k}", weight=1),),
    "phase add": (Write("phase add {id} {token} --name 'It is {token}' --objective o", ("It is {token}",), weight=3),),
    "phase set": (Write("phase set {id} 7 {k} --status in_progress --note {token}", place="objective {k}", weight=3),),
    "phase extend": (Write("phase extend {id} 7 {token}", weight=3),),
    "phase tried": (Write("phase tried {id} 7 --approach {token} --result r", weight=3),),
    "phase export": (nothing("phase export {id} 7", _ARTIFACTS),),
    "handoff new": (
        Write(
            "handoff new {id} --action 'Do {token}.' --file rules.md --location 'line 1' --goal 'It is done.'",
            slow=True,
        ),
    ),
    "handoff accept": (Write("handoff accept {id} --agent {token}", weight=1),),
    "criterion add": (Write("criterion add {id} 'It holds {token}'", ("It holds {token}",), bound=True),),
    "edit": (
        Write("edit {id} --area {token}", ("area: {token}",), place="area", weight=1, bound=True),
        Write("edit {id} --blocked {token}", ("note: {token}",), ends=_OF_STATUS, weight=1, bound=True),
    ),
    "criterion check": (Write("criterion check {id} {k}", (), ("criterion {k}", r"\[x\] .*"), weight=3),),
    "criterion uncheck": (Write("criterion uncheck {id} {k}", (), ("criterion {k}", r"\[ \] .*"), weight=1),),
    "role set": (
        Write(
            "role set {id} implementer --status in_progress --session-id {token}",
            ("session_id: {token}",),
            place="role",
        ),
        nothing("role set {id} implementer --status done", "a status of a role is told with its block"),
    ),
    "role block": (
        Write("role block {id} implementer --finding {token}", ("text: {token}}}",), place="finding {token}"),
    ),
    "role unblock": (
        nothing("role unblock {id} implementer --all", "it takes findings back")._replace(ends=("finding",)),
    ),
    "role reopen": (Write("role reopen {id} implementer --note {token}", (_EVENT,), ends=("snapshot",), weight=1),),
    "snapshot take": (Write("snapshot take {id} --role implementer", (), _SNAPSHOT, changes="work.txt"),),
    "snapshot verify": (
        nothing("snapshot verify {id} --role implementer --restore work.txt", "it writes into the working tree"),
    ),
    "snapshot resolve": (
        Write("snapshot resolve {id} --note {token}", (_EVENT,), ends=("snapshot",), changes="work.txt", weight=1),
    ),
    "purge": (nothing("purge {id}", _ARTIFACTS)._replace(ends=("snapshot",)),),
    "context init": (Write("context init {id}", (), _CONTEXT, weight=1),),
    "context rebuild": (Write("context rebuild {id} --note {token}", (), _CONTEXT, changes="rules.md", weight=1),),
    "qa record": (
        Write(
            "qa record {id} --from checks.log --note late --result 'test=3 passed {token}'",
            ("3 passed {token}",),
            place="baseline",
        ),
        Write(
            "qa record {id} --from checks.log --role implementer --result 'test=3 passed {token}'",
            ("3 passed {token}",),
            place="results",
            weight=1,
        ),
    ),
    "qa baseline": (
        Write(
            "qa baseline {id} --qa-log checks.log --redo --note {token} --result 'test=4 passed {token}'",
            ("4 passed {token}",),
            place="baseline",
            weight=1,
        ),
    ),
    "evidence add": (
        Write("evidence add {id} --type {token} --path rules.md", ("type: {token}",), weight=4, bound=True),
    ),
    "git-history sync": (
        Write(
            "git-history sync {id} --since HEAD~1",
            first=("commit", "-q", "--allow-empty", "--no-verify", "-m", "TASK-{id}: {token}"),
        ),
    ),
    "archive": (
        nothing("archive {id} --force --keep 1", _MOVES, 2),
        nothing("archive {id} --force --keep 2", _MOVES, 1),
    ),
    "archive restore": (nothing("archive restore {id}", _MOVES), nothing("archive restore {id} --all", _MOVES)),
    "chain output set": (
        Write("chain output set {id} summary --from {file}", place="summary", bound=True),
        Write("chain output set {id} notes --from {file}", place="notes", bound=True),
    ),
    "chain pull": (Write("chain pull 707", (), _INPUT, weight=2),),
    "permanent update": (
        Write(
            "permanent update --section Constraints --from {file}",
            ("\n- **Limit {k}:** {token}\n",),
            place="limit {k}",
            begins="- **Limit {k}:** {token}\n",
            weight=4,
            shared=True,
        ),
    ),
    "permanent decide": (
        Write(
            "permanent decide --title 'Choose {token}' --decision {token} --rationale r --accepted",
            ("**Decision:** {token}",),
            weight=5,
            shared=True,
        ),
        Write(
            "permanent decide --title 'Choose {token}' --decision {token} --rationale r",
            ("**Decision:** {token}",),
            weight=1,
            shared=True,
        ),
        Write("permanent decide --accept {k}", ("AD-{k} (accepted)",), place="decision {k}", weight=1, shared=True),
    ),
    "permanent ack": (
        Write("permanent ack --agent {token} --version {version}", ("{token}: {version}",), weight=4, shared=True),
    ),
    "permanent recover": (
        nothing("permanent recover --agent {token}", "it prints what to read")._replace(shared=True),
    ),
    "permanent close": (Write("permanent close --note {token}", (_EVENT,), ends=_OF_STATUS, weight=1, shared=True),),
    "permanent import": (
        Write(
            "permanent import {file} --id {fresh}",
            begins="---\nversion: GC-v3\n---\n\n# Shared\n\n## Constraints\n\n- **Old:** {token}\n",
            weight=1,
            shared=True,
        ),
    ),
    "impact add module": (Write("impact add module {token} --planned", ('"id": "{token}"',), shared=True),),
    "impact add interface": (
        Write(
            "impact add interface {token} --between core,page --contract {token}",
            ('"contract": "{token}"',),
            shared=True,
        ),
    ),
    "impact add ripple": (
        Write(
            "impact add ripple r{k} --path core,page --note {token} --replace",
            ('"note": "{token}"',),
            place="ripple {k}",
            shared=True,
        ),
    ),
    "impact remove": (
        nothing("impact remove ripple r{k}", "it takes an entry away")._replace(ends=("ripple",), shared=True),
    ),
    "impact check": (Write("impact check {id} --files rules.md --record --note {token}", (_EVENT,)),),
    "impact confirm": (Write("impact confirm {id} --actor other --note {token}", (_EVENT,), weight=1),),
    "complete": (
        Write(
            "complete {id} --force --note {token}",
            (_EVENT, STATUS % "complete"),
            _INPUT,
            place="status",
            ends=("turn", "snapshot", "role", "results"),
            weight=2,
        ),
    ),
    "drop": (
        Write("drop {id} --note {token}", (_EVENT, STATUS % "dropped"), place="status", ends=("turn",), weight=2),
    ),
    "reopen": (
        Write(
            "reopen {id} --note {token}",
            (_EVENT, STATUS % "in_progress"),
            place="status",
            ends=("snapshot",),
            weight=4,
        ),
    ),
    "decompose": (Write("decompose {id} --apply", (), _FILES, weight=2),),
    "lint": (nothing("lint --fix", _FORM), nothing("lint --add-ignores", _FORM)),
    "fmt": (nothing("fmt", _FORM),),
    "import": (nothing("import --list", "what it writes are new tasks"),),
    "migrate": (nothing("migrate", _FORM),),
    "doctor": (nothing("doctor", "steps of their own hold `--fix` and `--let-go` to what they promise", 2),),
    "doctor renumber": (Write("doctor renumber {id} {fresh}", (), _FILES, ends=("file", "status", "input"), weight=2),),
}
