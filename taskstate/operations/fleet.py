"""`fleet`: indexes and lints many repositories, and looks after the index."""

from __future__ import annotations

import time
from contextlib import ExitStack

from taskstate.operations.call import usage_error
from taskstate.operations.operation import Operation, option, positional, switch
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from taskstate.fleet.run import Outcome, Request
    from taskstate.model.config import Config
    from taskstate.operations.call import Call
    from taskstate.operations.operation import Name

_FORMATS = ("concise", "json", "sarif", "csv")
_OFTEN = 30  # seconds between two lines that say how far a run is
_MOST_NAMED = 20  # repositories that could not be read
_SOURCES = "repositories, bare ones too, folders above such, a store (s3://bucket/prefix/); @FILE lists more"
_JOBS = "child processes that read repositories (default: one per core)"
_SCHEDULER = "have the workers of a Dask scheduler read the repositories, at tls://HOST:PORT, or tcp:// on this machine"
_INSECURE = "take tcp:// beyond this machine: whoever reaches that port can run programs on all workers"


class Index(NamedTuple):
    """The arguments of `fleet index`."""

    sources: tuple[str, ...] = positional("SOURCE", _SOURCES, is_required=True)
    out: Name | None = option("FOLDER", "folder of the index (default: `out` of `[fleet]`)")
    jobs: int = option("N", _JOBS, default=0)
    scheduler: str = option("ADDRESS", _SCHEDULER, default="")
    insecure_scheduler: bool = switch(_INSECURE)
    no_lint: bool = switch("leave out what lint finds")
    keep_errors: bool = switch("do not try again what could not be read, and accept that it is most of all")


class Lint(NamedTuple):
    """The arguments of `fleet lint`."""

    sources: tuple[str, ...] = positional("SOURCE", _SOURCES, is_required=True)
    out: Name | None = option("FOLDER", "keep the index in this folder (default: `out` of `[fleet]`, else nowhere)")
    output_format: str = option("", "output format for findings (default: concise)", choices=_FORMATS)
    output_file: Name | None = option("FILE", "write the findings to a file")
    select: str | None = option("RULES", "rules to check in place of what each repository selects, such as TS4,secret")
    strict: bool = switch("exit with status 1 on warnings, too")
    exit_zero: bool = switch("exit with status 0 even if there are findings")
    jobs: int = option("N", _JOBS, default=0)
    scheduler: str = option("ADDRESS", _SCHEDULER, default="")
    insecure_scheduler: bool = switch(_INSECURE)
    keep_errors: bool = switch("do not try again what could not be read, and accept that it is most of all")


class Status(NamedTuple):
    """The arguments of `fleet status`."""

    out: Name | None = positional("FOLDER", "folder of the index (default: `out` of `[fleet]`)", default=None)
    verify: bool = switch("read all of it, and check it against what was written")


class Clean(NamedTuple):
    """The arguments of `fleet clean`."""

    out: Name | None = positional("FOLDER", "folder of the index (default: `out` of `[fleet]`)", default=None)
    keep: int = option("N", "how many of the last runs stay", default=3)


def index(call: Call, asked: Index) -> Result:
    """Make or update the index of many repositories, which `taskstate query --index` answers from.

    What a commit holds is read, by git's objects alone: no settings, hooks or programs of a repository. What has not
    changed is kept; after an interruption the same command goes on. Needs the extra `taskstate[query]`, and for
    --scheduler or a store `taskstate[fleet]`; the workers must see sources and index at the same paths.
    """
    config = call.config()
    request = _request(call, asked)._replace(lint=not asked.no_lint)
    outcome = _made(call, _out(asked.out, config), request, config)
    return Result(_shape(outcome), _told(outcome), 1 if outcome.errors else 0)


def _out(given: str | None, config: Config) -> Path:
    from taskstate.storage.paths import real

    if not given and not config.fleet.out:
        raise usage_error("fleet: no folder of an index is named", help="name one: --out FOLDER")
    return real(given or config.fleet.out)


def _request(call: Call, asked: Index | Lint) -> Request:
    from taskstate.fleet.run import Request
    from taskstate.fleet.scheduler import require_usable
    from taskstate.storage.paths import real

    if asked.jobs < 0:
        raise usage_error(
            f"fleet: --jobs {asked.jobs} is not a number of processes", help="leave it out for one per core"
        )
    scheduler = asked.scheduler and require_usable(asked.scheduler, insecure=asked.insecure_scheduler)
    if scheduler and asked.jobs:
        raise usage_error(
            "fleet: --jobs is for child processes here, and --scheduler has workers", help="leave one out"
        )
    return Request(
        asked.sources,
        call.conditions.folder(),
        call.now(),
        str(real(call.conditions.config)) if call.conditions.config else "",
        jobs=asked.jobs,
        scheduler=scheduler,
        keep_errors=asked.keep_errors,
    )


def _made(call: Call, out: Path, request: Request, config: Config) -> Outcome:
    """Bring an index up to date, and say what could not be read."""
    from taskstate.fleet import manifest, run
    from taskstate.query import engine

    engine.require_installed("fleet")
    said = time.monotonic()
    with call.bar("reading repositories") as bar:

        def show(done: int, every: int) -> None:
            nonlocal said
            bar(done, every)
            if time.monotonic() - said > _OFTEN and not call.screen.is_live:  # for who reads the log of a job
                said = time.monotonic()
                call.notes((f"{done} of {manifest.repositories(every)} are read",))

        outcome = run.index(out, request, config.fleet, show)
    call.problems(_named(outcome.errors))
    return outcome


def _named(errors: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """Return a line for each repository that could not be read, of which the first ones are named."""
    from taskstate.syntax.spans import one_line

    named = [one_line(f"{each['repo']}: {each['error']}") for each in errors[:_MOST_NAMED]]
    more = len(errors) - len(named)
    return (*named, f"and {more} more could not be read") if more else tuple(named)


def _shape(outcome: Outcome) -> dict[str, object]:
    made = outcome.manifest
    return {
        "run": made.number,
        "repositories": made.repositories,
        "rows": dict(made.rows),
        "buckets": {"done": outcome.done, "kept": outcome.kept},
        "errors": [dict(each) for each in outcome.errors],
    }


def _told(outcome: Outcome) -> str:
    from taskstate.fleet import manifest
    from taskstate.messages import counted

    told = manifest.told(outcome.manifest)
    return f"{told}: {counted(outcome.done, 'bucket')} read, {outcome.kept} unchanged"


def lint(call: Call, asked: Lint) -> Result:
    """Lint what the commits of many repositories hold: the index of them is made, and says what lint found.

    In each repository this is what `taskstate lint --at HEAD --against none` finds there. Needs the extra
    `taskstate[query]`, and for --scheduler or a store `taskstate[fleet]`.
    """
    from taskstate.fleet import report
    from taskstate.operations.lint import selectors
    from taskstate.storage import files, temporary
    from taskstate.storage.paths import real
    from taskstate.workspace.artifacts import require_not_own

    config = call.config()
    if asked.output_file:
        require_not_own(call.any_workspace, real(asked.output_file))
    select = selectors(asked.select) if asked.select is not None else None
    request = _request(call, asked)._replace(select=select)
    with ExitStack() as stack:
        is_kept = asked.out or config.fleet.out
        out = _out(asked.out, config) if is_kept else stack.enter_context(temporary.folder("taskstate-fleet-")) / "out"
        outcome = _made(call, out, request, config)
        found = report.found(out, config.query)
    bad = any(each["severity"] == "error" or asked.strict for each in found)
    status = 1 if outcome.errors or (bad and not asked.exit_zero) else 0
    if call.as_data:
        return Result(report.shape(outcome.manifest, outcome.errors, found), "", status)
    form = asked.output_format or _FORMATS[0]
    rendered = report.rendered(form, outcome.manifest, outcome.errors, found)
    call.notes((report.summary(outcome.manifest, found),))
    if asked.output_file:
        files.replace(real(asked.output_file), rendered)
        rendered = b""
    return Result(None, "", status, raw=rendered, is_json=form in {"json", "sarif"})


def status(call: Call, asked: Status) -> Result:
    """Say what an index holds, whether a run is at work on it, and what could not be read."""
    from taskstate.fleet import manifest, verifying
    from taskstate.query import engine

    engine.require_installed("fleet")
    config = call.config()
    out, newest = manifest.required(str(_out(asked.out, config)))
    errors = [each for done in manifest.dones(out, newest) for each in done.errors]
    wrong = verifying.wrong(out, newest, config.query) if asked.verify else []
    shape = newest._asdict() | {"errors": errors, "is_at_work": manifest.is_at_work(out)}
    call.problems((*wrong, *_named(errors)))
    lines = [
        f"run {newest.number} at {newest.at}, by taskstate {newest.versions['taskstate']}: {manifest.told(newest)}",
        *(["a run is at work"] if shape["is_at_work"] else []),
        *(["all of it is as it was written"] if asked.verify and not wrong else []),
    ]
    return Result(shape | ({"wrong": wrong} if asked.verify else {}), "\n".join(lines), 1 if wrong else 0)


def clean(call: Call, asked: Clean) -> Result:
    """Delete the runs of an index but for the last ones, and what belongs to none of these any more."""
    from taskstate.fleet import manifest
    from taskstate.messages import counted

    if asked.keep < 1:
        raise usage_error(f"fleet clean: --keep {asked.keep} leaves no run", help="to be rid of it, delete the folder")
    out, _ = manifest.required(str(_out(asked.out, call.config())))
    with manifest.writing(out):
        runs, gone = manifest.clean(out, asked.keep)
    return Result({"runs": runs, "parts": gone}, f"deleted {counted(runs, 'run')} and {counted(gone, 'part')}")


OPERATIONS = (
    Operation("fleet index", "make or update the index of many repositories", index, Index),
    Operation("fleet lint", "lint many repositories", lint, Lint),
    Operation("fleet status", "say what an index of many repositories holds", status, Status),
    Operation("fleet clean", "delete older runs of an index of many repositories", clean, Clean),
)
