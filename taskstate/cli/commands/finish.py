"""`taskstate finish`: ends a turn with its session, its checks, its snapshot and what comes next."""

from __future__ import annotations

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.commands.session import add_words, given_words
from taskstate.cli.commands.start import call_of
from taskstate.cli.invocation import Invocation, outcome_shape, read_bytes
from taskstate.storage.files import MAX_BYTES
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace

    from taskstate.turn.ending import FinishRequest

# By flag, the name of its value; pairs that do not go together; and flags with what they need, and why.
_NAMES = {
    "--pause": "pause",
    "--abandon": "abandon",
    "--complete": "complete",
    "--send-back": "send_back",
    "--pass": "passes",
    "--waive": "waive",
    "--note": "note",
    "--finding": "found",
    "--output": "output",
}
_APART = (
    *(("--pause", other) for other in ("--abandon", "--complete", "--send-back", "--pass", "--waive")),
    *(("--abandon", other) for other in ("--complete", "--send-back", "--pass", "--waive")),
    ("--complete", "--send-back"),
)
_TOGETHER = (
    ("--send-back", "--finding", 'say what is wrong: --finding "WHAT"'),
    ("--finding", "--send-back", "name the role that mends it: --send-back ROLE"),
    ("--output", "--complete", "`taskstate chain output set` writes a part alone"),
    ("--waive", "--note", 'say why: --note "WHY"'),
    ("--abandon", "--note", 'say why: --note "WHY"'),
)


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.description = (
        "End a turn: record the session, run the validation commands and compare them with the baseline, take the "
        "snapshot, set the role done. Exit status 1: the session is recorded, and there is something to mend, such as "
        "a regression, which leaves the turn open."
    )
    parser.add_task()
    add_words(parser)
    parser.add_repeatable("--pass", "FID", "feature that passes, proved by this run of the checks", dest="passes")
    parser.add_list("--check", "N", "acceptance criterion that is met", dest="checked")
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
    parser.add_list("--keep", "N", "answered finding that is not settled")
    parser.add_repeatable("--answer", "N=TEXT", "answer to a finding", dest="answers")
    parser.add_writing(run=run)


def run(invocation: Invocation) -> int:
    """End a turn."""
    from taskstate.turn.finish import finish

    done = finish(call_of(invocation), _request(invocation))
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
    from taskstate.turn import ending as endings

    args = invocation.args
    _require_fitting(args)
    others = {endings.PAUSE: args.pause, endings.ABANDON: args.abandon}
    ending = next((name for name, is_given in others.items() if is_given), endings.DONE_ENDING)
    return endings.FinishRequest(
        words=given_words(invocation),
        passes=tuple(args.passes),
        checked=tuple(_number(each, "--check") for each in args.checked),
        log=read_bytes(args.qa_log, MAX_BYTES) if args.qa_log else None,
        waive=tuple(args.waive),
        note=invocation.text_of(args.note or "").strip(),
        evidence=invocation.text_of(args.evidence or ""),
        ending=ending,
        complete=args.complete,
        output=invocation.read(args.output) if args.output else None,
        send_back=invocation.flag_value("send_back"),
        found=tuple(args.found),
        keep=tuple(_number(each, "--keep") for each in args.keep),
        answers=dict(_answer(each) for each in args.answers),
    )


def _require_fitting(args: Namespace) -> None:
    """Refuse flags that do not go together.

    Raises:
        TaskstateError: code "usage".
    """
    given = {flag for flag, name in _NAMES.items() if str(getattr(args, name) or "").strip()}
    for flag, other in _APART:
        if {flag, other} <= given and not (other == "--pass" and args.evidence):
            raise usage_error(f"{flag} does not go with {other}", help="leave one of them out")
    for flag, needed, why in _TOGETHER:
        if flag in given and needed not in given:
            raise usage_error(f"{flag} needs {needed}", help=why)


def _number(text: str, flag: str) -> int:
    if not text.isdecimal():
        raise usage_error(f"{flag} {text} is no number", help="they are counted from 1")
    return int(text)


def _answer(text: str) -> tuple[int, str]:
    number, equals, answer = text.partition("=")
    if not equals or not number.strip().isdecimal() or not answer.strip():
        raise usage_error(f"--answer {text!r} is no answer", help='write it as --answer 1="WHAT WAS DONE"')
    return int(number), answer
