"""`finish`: ends a turn with its session, its checks, its snapshot and what comes next."""

from __future__ import annotations

from functools import partial, update_wrapper

from taskstate.model.session_texts import BY, SESSION_TEXTS
from taskstate.model.write_metadata import timestamp
from taskstate.operations.call import usage_error
from taskstate.operations.operation import TASK, Operation, group, option, switch
from taskstate.operations.result import Result, changed, outcome_shape
from taskstate.operations.session import FROM, given_words, text_fields
from taskstate.storage.files import MAX_BYTES
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from taskstate.model.session_texts import SessionText
    from taskstate.operations.call import Call, Source
    from taskstate.operations.operation import Fields, Line, Name, TaskId, Text
    from taskstate.turn.ending import FinishRequest


class Finish(NamedTuple):
    """The arguments of `finish`."""

    id: TaskId = TASK
    words: Fields = group()
    source: Source | None = FROM
    from_autosave: Name = option(
        "ID", "record this draft of `autosave list`, or the `last` one; other flags replace its texts"
    )
    passes: tuple[str, ...] = option("FID", "feature that passes; this run of the checks is its evidence", flag="pass")
    checked: tuple[int, ...] = option("N", "number of an acceptance criterion that is met", flag="check", by_comma=True)
    qa_log: Source | None = option("FILE", "log with the results, instead of a run of the checks")
    waive: tuple[str, ...] = option("NAME", "check that may fail here (requires --note)")
    evidence: Text = option("TEXT", "how the features of --pass were tested")
    note: Text = option("TEXT", "reason for --waive or --abandon")
    pause: bool = switch("end the turn; its work goes on in a later one")
    handoff: bool = switch("with --pause: also write the session's texts as a handoff for the next agent")
    abandon: bool = switch("give the turn up (requires --note)")
    complete: bool = switch("also complete the task")
    output: Source | None = option("FILE", "with --complete: the Chain Output; - reads standard input")
    send_back: Name = option("ROLE", "give the work back to an earlier role")
    found: tuple[str, ...] = option("TEXT", "with --send-back: what is wrong", flag="finding")
    keep: tuple[int, ...] = option("N", "with --send-back: answered finding to keep open", by_comma=True)
    answers: tuple[str, ...] = option("N=TEXT", "answer to a finding", flag="answer")
    agent: Line = option("NAME", "name of the agent (default: that of the turn)")
    take_over: Line = option("NOTE", "end somebody else's turn, for this reason")


def finish(call: Call, asked: Finish, texts: Sequence[SessionText] = SESSION_TEXTS) -> Result:
    """End a turn: record the session, run the checks, compare with the baseline, take the snapshot, set the role done.

    Exit status 1: the session is recorded, but something has to be fixed, such as a regression, which leaves the turn
    open.
    """
    from taskstate.turn.finish import finish as end
    from taskstate.turn.turn_request import TurnRequest

    turn = TurnRequest(call.workspace, call.task_id(asked.id), call.request(), call.progress)
    words, now, draft = asked.words, timestamp(turn.request.metadata.now), None
    if asked.from_autosave:
        from taskstate.autosave.drafts import taken_over

        draft = taken_over(call.workspace, turn.task_id, asked.from_autosave, now, is_kept=not call.dry_run)
        words = draft.draft.session(with_words=True) | {key: value for key, value in words.items() if value}
    done = end(turn, _request(asked, words, texts))
    if draft and not call.dry_run:
        from taskstate.autosave.catch_up import taken

        taken(call.workspace, draft, now)
    if call.dry_run:
        return changed(call, done.outcome._replace(notes=(*done.outcome.notes, *done.lines)))
    call.problems((*done.outcome.warnings, *done.problems))
    data = {
        **outcome_shape(done.outcome),
        "role": done.role or None,
        "done": done.done,
        "problems": list(done.problems),
        "notes": list(done.lines),
    }
    return Result(data, "\n".join(done.lines), status=1 if done.problems else 0)


def _request(asked: Finish, words: Mapping[str, Any], texts: Sequence[SessionText]) -> FinishRequest:
    from taskstate.turn import ending as endings

    if asked.send_back and not (any(asked.found) or asked.keep):
        help_ = 'say what is wrong: --finding "WHAT", or --keep N of a finding that is not settled'
        raise usage_error("--send-back needs --finding or --keep", help=help_)
    ending = endings.PAUSE if asked.pause else endings.ABANDON if asked.abandon else endings.DONE_ENDING
    return endings.FinishRequest(
        words=given_words(words, asked.source, texts),
        passes=asked.passes,
        checked=asked.checked,
        log=asked.qa_log.read(MAX_BYTES) if asked.qa_log else None,
        waive=asked.waive,
        note=asked.note.strip(),
        evidence=asked.evidence,
        ending=ending,
        complete=asked.complete,
        output=asked.output.text() if asked.output else None,
        send_back=asked.send_back,
        found=asked.found,
        keep=asked.keep,
        answers=dict(map(_answer, asked.answers)),
        handoff=asked.handoff,
        agent=asked.agent,
        take_over=asked.take_over,
    )


def _answer(text: str) -> tuple[int, str]:
    number, equals, answer = text.partition("=")
    if not equals or not number.strip().isdecimal() or not answer.strip():
        raise usage_error(f"--answer {text!r} is not an answer", help='write it as --answer 1="WHAT WAS DONE"')
    return int(number), answer


def finish_operations(texts: Sequence[SessionText] = SESSION_TEXTS) -> tuple[Operation, ...]:
    """Return the operation, with a field for each text but the agent's name, which the turn knows."""
    words = text_fields([each for each in texts if each is not BY])
    return (
        Operation(
            "finish",
            "end a turn: record the session, run the checks, say what comes next",
            update_wrapper(partial(finish, texts=texts), finish),
            Finish,
            writes=True,
            compares="the tree on which its checks ran; `start` has compared the one that the turn began with",
            groups={"words": words},
            apart=(
                *(("--pause", other) for other in ("--abandon", "--complete", "--send-back", "--waive")),
                *(("--abandon", other) for other in ("--complete", "--send-back", "--waive")),
                ("--complete", "--send-back"),
            ),
            together=(
                ("--handoff", "--pause", "work that goes on is handed over"),
                ("--finding", "--send-back", "name the role that fixes it: --send-back ROLE"),
                ("--output", "--complete", "`taskstate chain output set --help` says how a part is written alone"),
                ("--waive", "--note", 'say why: --note "WHY"'),
                ("--abandon", "--note", 'say why: --note "WHY"'),
            ),
        ),
    )


OPERATIONS = finish_operations()
