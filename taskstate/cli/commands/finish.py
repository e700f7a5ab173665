"""`taskstate finish`: ends a turn with its session, its checks, its snapshot and what comes next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.commands.session import add_words, given_words
from taskstate.cli.commands.start import call_of
from taskstate.cli.invocation import Invocation, outcome_shape, read_bytes
from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    from taskstate.turn.finish import FinishRequest


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.description = (
        "End a turn: record the session, run the validation commands and compare them with the baseline, take the "
        "snapshot, set the role done. A regression exits with 1: the session is recorded, and the turn stays open."
    )
    parser.add_task()
    add_words(parser)
    parser.add_repeatable("--pass", "FID", "feature that passes, proved by this run of the checks", dest="passes")
    parser.add_repeatable("--check", "N", "acceptance criterion that is met", dest="checked")
    parser.add_argument("--qa-log", metavar="FILE", help="log of the validation commands, which then are not run")
    parser.add_repeatable("--waive", "NAME", "check that may fail here (requires --note)")
    parser.add_argument("--evidence", metavar="TEXT", help="how the features of --pass were tested")
    parser.add_argument("--note", metavar="TEXT", help="reason for --waive or --abandon")
    parser.add_argument("--pause", action="store_true", help="end the turn with its work still in progress")
    parser.add_argument("--abandon", action="store_true", help="give the turn up (requires --note)")
    parser.add_argument("--complete", action="store_true", help="also complete the task")
    parser.add_argument("--output", metavar="FILE", help="with --complete: the Chain Output; - reads standard input")
    parser.add_argument("--send-back", metavar="ROLE", help="give the work back to an earlier role")
    parser.add_repeatable("--finding", "TEXT", "with --send-back: what is wrong", dest="found")
    parser.add_repeatable("--keep", "N", "answered finding that is not settled")
    parser.add_repeatable("--answer", "N=TEXT", "answer to a finding", dest="answers")
    parser.add_writing(run=run)


def run(invocation: Invocation) -> int:
    """End a turn."""
    from taskstate.tasks.complete import Incomplete
    from taskstate.turn.finish import finish

    asked = _request(invocation)
    try:
        done = finish(call_of(invocation), asked)
    except Incomplete as error:
        if invocation.as_json:
            message = f"{error.message}: {'; '.join(error.gaps)}"
            raise TaskstateError(message, help=error.help, code=error.code) from error
        invocation.print_problems(tuple(f"  {gap}" for gap in error.gaps))
        raise
    if invocation.args.dry_run:
        return invocation.print_outcome(done.outcome._replace(notes=(*done.outcome.notes, *done.lines)))
    invocation.print_problems((*done.outcome.warnings, *done.problems))
    data = {
        **outcome_shape(done.outcome),
        "role": done.role or None,
        "done": done.done,
        "problems": list(done.problems),
        "notes": list(done.lines),
    }
    status = 1 if done.problems else 0
    return invocation.print_result(data, "\n".join(done.lines), status=status)


def _request(invocation: Invocation) -> FinishRequest:
    from taskstate.turn import finish
    from taskstate.turn.finish import FinishRequest

    args = invocation.args
    if args.pause and args.abandon:
        raise usage_error("--pause and --abandon do not go together", help="give one of them")
    endings = {finish.PAUSE: args.pause, finish.ABANDON: args.abandon}
    ending = next((name for name, is_given in endings.items() if is_given), finish.DONE_ENDING)
    if args.send_back and not args.found:
        raise usage_error("--send-back needs a finding", help='say what is wrong: --finding "WHAT"')
    _require_fitting(invocation, ends=ending == finish.DONE_ENDING)
    note = invocation.text_of(args.note or "").strip()
    if (args.waive or args.abandon) and not note:
        flag = "--waive" if args.waive else "--abandon"
        raise usage_error(f"{flag} needs a reason", help='say it: --note "WHY"')
    return FinishRequest(
        words=given_words(invocation),
        passes=tuple(args.passes),
        checked=tuple(_number(each, "--check") for each in args.checked),
        log=read_bytes(args.qa_log) if args.qa_log else None,
        waive=tuple(args.waive),
        note=note,
        evidence=invocation.text_of(args.evidence or ""),
        ending=ending,
        complete=args.complete,
        output=invocation.read(args.output) if args.output else None,
        send_back=invocation.flag_value("send_back"),
        found=tuple(args.found),
        keep=tuple(_number(each, "--keep") for each in args.keep),
        answers=dict(_answer(each) for each in args.answers),
    )


def _require_fitting(invocation: Invocation, *, ends: bool) -> None:
    """Refuse flags that only go with an end of the work."""
    args = invocation.args
    given = {"--complete": args.complete, "--send-back": args.send_back, "--pass": args.passes, "--waive": args.waive}
    for flag, is_given in given.items():
        if not ends and is_given and not (flag == "--pass" and args.evidence):
            ending = "--pause" if args.pause else "--abandon"
            raise usage_error(f"{flag} does not go with {ending}", help="leave one of them out")
    if args.send_back and args.complete:
        raise usage_error("--complete does not go with --send-back", help="leave one of them out")
    if args.output and not args.complete:
        raise usage_error("--output goes with --complete", help="`taskstate chain output set` writes a part alone")
    if args.found and not args.send_back:
        raise usage_error("--finding goes with --send-back ROLE", help="name the role that mends it")


def _number(text: str, flag: str) -> int:
    if not text.isdecimal():
        raise usage_error(f"{flag} {text} is no number", help="they are counted from 1")
    return int(text)


def _answer(text: str) -> tuple[int, str]:
    number, equals, answer = text.partition("=")
    if not equals or not number.strip().isdecimal() or not answer.strip():
        raise usage_error(f"--answer {text!r} is no answer", help='write it as --answer 1="WHAT WAS DONE"')
    return int(number), answer
