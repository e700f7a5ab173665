"""`taskstate impact`: the Impact Map of the permanent task, and claims of affected files checked against it."""

from __future__ import annotations

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.cli.arguments import Run
    from taskstate.permanent.impact.check import Answer

_TWO = 2
_KEYS = {"module": "modules", "interface": "interfaces", "ripple": "ripple_paths"}


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    _configure_add(parser)
    _configure_remove(parser)
    show = parser.add_action("show", "show the Impact Map", "Show the Impact Map.", task=False)
    show.add_argument("--mermaid", action="store_true", help="as a Mermaid flowchart")
    show.add_common(run=run_show)
    check = parser.add_action(
        "check",
        "check a claim of affected files",
        "Say which modules a change touches, what the claim leaves out, and whom the change reaches; exit with "
        "status 1 if the claim is incomplete. ID is the task that makes the change.",
    )
    _add_claim(check)
    check.add_argument("--record", action="store_true", help="keep the claim and the answer as an event of the task")
    check.add_argument("--note", default="", metavar="T", help="what else to say, with --record")
    check.add_argument("--mermaid", action="store_true", help="draw the map with the claimed modules marked")
    check.add_writing(run=run_check)
    confirm = parser.add_action(
        "confirm",
        "confirm the claim of somebody else",
        "Confirm the newest recorded claim of a task, as another actor than the one who made it.",
    )
    confirm.add_argument("--note", default="", metavar="T", help="why an incomplete claim is right all the same")
    confirm.add_writing(run=run_confirm)
    challenge = parser.add_action(
        "challenge",
        "print questions about a claim",
        "Print questions about a claim, grounded in entries of the map, for a reviewer to put to an implementer.",
    )
    _add_claim(challenge)
    challenge.add_common(run=run_challenge)
    _configure_scan(parser)


def _configure_add(parser: Parser) -> None:
    add = parser.add_action("add", "add an entry to the map", "Add an entry to the Impact Map.", task=False)
    module = add.add_action("module", "add a module", "Add a module: a part of the code.", task=False)
    module.add_argument("name", metavar="NAME", help="id of the module, such as auth-api")
    module.add_repeatable("--path", "GLOB", "files that belong to it, as a glob from the repository's root")
    module.add_list("--depends-on", "NAME", "modules that it needs")
    module.add_argument("--planned", action="store_true", help="it has no files yet")
    module.add_argument(
        "--allow-circle", action="store_true", help="a circle of dependencies through it is meant to be"
    )
    module.set_defaults(key="modules")
    _add_replace(module, run_add_module)
    interface = add.add_action("interface", "add an interface", "Add what two modules promise each other.", task=False)
    interface.add_argument("name", metavar="NAME", help="id of the interface")
    interface.add_argument("--between", metavar="A,B", required=True, help="the two modules")
    interface.add_argument("--contract", metavar="T", required=True, help="what they promise, in words")
    interface.set_defaults(key="interfaces")
    _add_replace(interface, run_add_interface)
    ripple = add.add_action("ripple", "add a ripple path", "Add a way that a change takes.", task=False)
    ripple.add_argument("name", metavar="NAME", help="id of the ripple path")
    ripple.add_argument(
        "--path", metavar="A,B,…", required=True, help="the modules, in the order in which the change reaches them"
    )
    ripple.add_argument("--note", default="", metavar="T", help="what it is that reaches them")
    ripple.set_defaults(key="ripple_paths")
    _add_replace(ripple, run_add_ripple)


def _add_replace(parser: Parser, run: Run) -> None:
    parser.add_argument("--replace", action="store_true", help="put it in the place of the entry with the same id")
    parser.add_writing(run=run)


def _configure_remove(parser: Parser) -> None:
    remove = parser.add_action("remove", "remove an entry from the map", "Remove an entry from the map.", task=False)
    remove.add_argument("kind", metavar="KIND", choices=tuple(_KEYS), help="module, interface or ripple")
    remove.add_argument("name", metavar="NAME", help="id of the entry")
    remove.add_argument(
        "--with-references", action="store_true", help="take a module out of all entries that name it, too"
    )
    remove.add_writing(run=run_remove)


def _add_claim(parser: Parser) -> None:
    parser.add_repeatable("--files", "F,F", "affected files, from the repository's root; - reads one a line")
    parser.add_argument(
        "--diff",
        nargs="?",
        const="base",
        choices=("base", "snapshot"),
        help="what the task has changed since its base, or since its last snapshot; without --files this is the claim",
    )


def _configure_scan(parser: Parser) -> None:
    scan = parser.add_action(
        "scan",
        "propose modules from the code",
        "Show how the map differs from what the Python files import, and propose a map; nothing is written.",
        task=False,
    )
    scan.add_argument("--depth", type=int, default=2, metavar="N", help="folders in a proposed module (default: 2)")
    scan.add_argument("--mermaid", action="store_true", help="draw the proposed map as a Mermaid flowchart")
    scan.add_common(run=run_scan)


def _ids(values: list[str] | str) -> list[str]:
    """Return the ids in values that are separated by commas, each once."""
    parts = ",".join([values] if isinstance(values, str) else values).split(",")
    return list(dict.fromkeys(filter(None, (part.strip() for part in parts))))


# Changing the map


def run_add_module(invocation: Invocation) -> int:
    """Add a module."""
    args = invocation.args
    if not args.path and not args.planned:
        help_ = "name its files, such as `--path 'src/auth/**'`, or mark it as --planned"
        raise usage_error("add module: --path is missing", help=help_)
    flags = {"planned": args.planned, "circle_allowed": args.allow_circle}
    chosen = {key: True for key, given in flags.items() if given}
    paths = [_line(path, "a glob") for path in dict.fromkeys(args.path)]
    return _add(invocation, {"paths": paths, "depends_on": _ids(args.depends_on), **chosen})


def run_add_interface(invocation: Invocation) -> int:
    """Add an interface."""
    between = _ids(invocation.args.between)
    if len(between) != _TWO:
        help_ = "name two modules, such as `--between api,core`"
        raise usage_error("add interface: --between takes two modules", help=help_)
    contract = _line(invocation.text_of(invocation.args.contract), "the contract")
    return _add(invocation, {"between": between, "contract": contract})


def run_add_ripple(invocation: Invocation) -> int:
    """Add a ripple path."""
    args = invocation.args
    path = [part.strip() for part in args.path.split(",") if part.strip()]
    if len(path) < _TWO:
        help_ = "name the modules that the change reaches, in order, such as `--path db,core,api`"
        raise usage_error("add ripple: --path takes two modules or more", help=help_)
    return _add(invocation, {"path": path, **({"note": _line(args.note, "the note")} if args.note else {})})


def _line(text: str, what: str) -> str:
    from taskstate.syntax.escaping import one_line

    return one_line(text, what=what)


def _add(invocation: Invocation, values: dict[str, object]) -> int:
    from taskstate.permanent.impact.entries import add

    args = invocation.args
    entry = {"id": args.name, **values}
    request = invocation.request()
    outcome = add(invocation.workspace, args.key, entry, request, replace=args.replace)
    return invocation.print_outcome(outcome, "changed", version=outcome.result, entry=entry)


def run_remove(invocation: Invocation) -> int:
    """Remove an entry."""
    from taskstate.permanent.impact.entries import remove

    args = invocation.args
    request = invocation.request()
    outcome = remove(invocation.workspace, _KEYS[args.kind], args.name, request, with_references=args.with_references)
    return invocation.print_outcome(outcome, "changed", version=outcome.result)


# Reading it


def run_show(invocation: Invocation) -> int:
    """Show the map."""
    from taskstate.model.permanent import version_of
    from taskstate.permanent.find import require
    from taskstate.permanent.impact.storage import load_map
    from taskstate.permanent.impact.text import as_mermaid, map_lines

    workspace = invocation.workspace
    found = require(workspace)
    loaded = workspace.load(workspace.locate(found.id))
    map_ = load_map(workspace, loaded)
    invocation.print_notes(found.notes)
    drawing = as_mermaid(map_)
    text = drawing if invocation.args.mermaid else "\n".join(map_lines(map_))
    data = {"id": found.id, "version": version_of(loaded.state), "map": map_.values, "mermaid": drawing}
    return invocation.print_result(data, text)


def run_scan(invocation: Invocation) -> int:
    """Propose a map."""
    from taskstate.permanent import find
    from taskstate.permanent.impact import storage
    from taskstate.permanent.impact.scan import scan
    from taskstate.permanent.impact.text import as_mermaid, map_lines

    args, workspace = invocation.args, invocation.workspace
    if args.depth < 1:
        raise usage_error("scan: --depth is a number of folders", help="write 1 or more")
    found = find.require(workspace)
    map_ = storage.load_map(workspace, workspace.load(workspace.locate(found.id)))
    result = scan(workspace, map_, storage.repository_files(workspace), args.depth)
    invocation.print_notes((*found.notes, *(f"not read, since it does not parse: {path}" for path in result.unread)))
    drawing = as_mermaid(result.proposed)
    lines = [*result.differences] or ["the map says what the imports say"]
    text = drawing if args.mermaid else "\n".join([*lines, "", "proposed:", "", *map_lines(result.proposed)])
    data = {
        "map": result.proposed.values,
        "differences": [*result.differences],
        "unread": [*result.unread],
        "mermaid": drawing,
    }
    return invocation.print_result(data, text)


# Claims


def _answer(invocation: Invocation) -> Answer:
    from taskstate.permanent.impact.check import Claim, check

    args = invocation.args
    files = tuple(_claimed(invocation))
    loaded = invocation.load_parsed_task()
    answer = check(invocation.workspace, loaded, Claim(files, args.diff or ""))
    invocation.print_notes(answer.notes)
    return answer


def _claimed(invocation: Invocation) -> Iterator[str]:
    """Yield the paths of `--files`; from standard input each line is one, whatever it holds."""
    for value in invocation.args.files:
        if value == "-":
            yield from filter(None, (line.rstrip("\r") for line in invocation.read("-").split("\n")))
        else:
            yield from filter(None, (part.strip() for part in value.split(",")))


def run_check(invocation: Invocation) -> int:
    """Check a claim, and keep it if that is wanted."""
    from taskstate.permanent.impact.claims import record
    from taskstate.permanent.impact.text import answer_lines, answer_shape, as_mermaid

    args = invocation.args
    if args.note and not args.record:
        raise usage_error("check: --note is kept with a record", help="add --record")
    answer = _answer(invocation)
    shape, status = answer_shape(answer), 0 if answer.complete else 1
    shape["mermaid"] = as_mermaid(answer.map, answer.modules)
    text = str(shape["mermaid"]) if args.mermaid else "\n".join(answer_lines(answer))
    if not args.record:
        return invocation.print_result(shape, text, status=status)
    outcome = record(invocation.workspace, answer, invocation.request(), args.note)
    said = f"{text}\n{outcome.path}: claim recorded at PT-v{answer.version}"
    invocation.print_outcome(outcome, text=said, **shape)
    return status


def run_confirm(invocation: Invocation) -> int:
    """Confirm a claim."""
    from taskstate.permanent.impact.claims import confirm

    outcome = confirm(invocation.workspace, invocation.task, invocation.args.note, invocation.request())
    given = outcome.result
    done = f"the claim of {given.actor} at PT-v{given.version} is confirmed"
    return invocation.print_outcome(outcome, done, version=given.version, claimed_by=given.actor)


def run_challenge(invocation: Invocation) -> int:
    """Print questions about a claim."""
    from taskstate.permanent.impact.challenge import question_lines, questions

    answer = _answer(invocation)
    found = questions(answer)
    data = {
        "task": answer.task,
        "version": answer.version,
        "complete": answer.complete,
        "questions": [{**each._asdict(), "entries": [*each.entries]} for each in found],
    }
    none = "the map raises no question about this claim"
    return invocation.print_result(data, "\n".join(question_lines(found)) or none)
