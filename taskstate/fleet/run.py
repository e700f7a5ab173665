"""One run over many repositories: what has changed is read by children, a bucket each, and the manifest comes last.

Whatever is killed, the same command goes on where it was: a part is whole or not there, and holds what it would hold
in any run.
"""

from __future__ import annotations

import secrets
from concurrent.futures import FIRST_COMPLETED, wait
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.fleet import heads, manifest, parts, scheduler, sources, workers
from taskstate.messages import counted
from taskstate.storage import files, programs
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence
    from typing import Any, TypeAlias

    from taskstate.fleet.heads import Head
    from taskstate.fleet.manifest import Manifest
    from taskstate.fleet.parts import Done
    from taskstate.fleet.sources import Repository, Sources
    from taskstate.model.config import Fleet

    Bucket: TypeAlias = list[tuple[Repository, Head]]


_OFTEN = 10.0  # seconds after which is said how far the run is


class Request(NamedTuple):
    """What a run is asked for: sources as given, seen from `folder`, and how they are read.

    `config` is a file that stands for the configuration of every repository. `jobs` is 0 for one child on each core;
    with a `scheduler`, at an address, its workers have the children.
    """

    given: Sequence[str]
    folder: Path
    now: str
    config: str = ""
    select: Sequence[str] | None = None
    lint: bool = True
    jobs: int = 0
    scheduler: str = ""
    keep_errors: bool = False


class Outcome(NamedTuple):
    """What a run made: its manifest, repositories that were not read, and how many buckets were done and kept."""

    manifest: Manifest
    errors: tuple[Mapping[str, str], ...]
    done: int
    kept: int


class _Plan(NamedTuple):
    """What is to be done: names of parts by bucket, those that are there, and the jobs of the others."""

    names: dict[int, str]
    there: dict[int, Done]
    jobs: dict[int, dict[str, Any]]


def index(out: Path, request: Request, bounds: Fleet, show: Callable[[int, int], None]) -> Outcome:
    """Bring an index up to date, and return what was made.

    Raises:
        TaskstateError: nothing was done, or not all; what is done stays, and the same command goes on from there.
    """
    with manifest.writing(out):
        found = sources.find(request.given, request.folder)
        stand = [*zip(found.repositories, heads.read_all(found), strict=True)]
        number = manifest.buckets(out)
        if number is None:
            number = parts.number_of_buckets((head for _, head in stand), bounds.bucket_mb)
            manifest.begin(out, number)
        run = manifest.next_number(out)
        nonce = secrets.token_hex()
        files.replace(out / parts.PROBE, nonce.encode("ascii"))
        try:
            shared = _settings(out, request, bounds, found, nonce)
            plan = _planned(out, request, shared, _bucketed(stand, number), run)
            done = _done(plan, request.scheduler, request.jobs or bounds.jobs or programs.cores(), show)
        finally:
            files.delete(out / parts.PROBE)
        every = {**plan.there, **done}
        errors = tuple(error for bucket in sorted(every) for error in every[bucket].errors)
        _require_sense(errors, len(stand), request)
        made = _manifest(run, request.now, shared["versions"], plan.names, every)
        manifest.write(out, made)
        return Outcome(made, errors, len(done), len(plan.there))


def _settings(out: Path, request: Request, bounds: Fleet, found: Sources, nonce: str) -> dict[str, Any]:
    """Return what all jobs of a run share."""
    limits = ("repository_seconds", "worker_mb", "most_files", "most_mb")
    return {
        "out": str(out),
        "nonce": nonce,
        "versions": parts.versions(),
        "now": request.now,
        "config": request.config,
        "lint": request.lint,
        "roots": sorted(found.roots),
        "select": None if request.select is None else [*request.select],
        **{name: getattr(bounds, name) for name in limits},
    }


def _bucketed(stand: Bucket, number: int) -> dict[int, Bucket]:
    buckets: dict[int, Bucket] = {}
    for each in stand:
        buckets.setdefault(parts.bucket_of(each[0].name, number), []).append(each)
    return dict(sorted(buckets.items()))


def _planned(out: Path, request: Request, shared: Mapping[str, Any], buckets: Mapping[int, Bucket], run: int) -> _Plan:
    plan, named, before = _Plan({}, {}, {}), manifest.named_parts(out), manifest.newest(out)
    old = {int(name.partition("-")[0]): name for name in before.parts} if before else {}
    settings = {name: shared[name] for name in ("versions", "lint", "select", "most_files", "most_mb")}
    if request.config:
        settings["config"] = files.digest(files.read(request.config))
    digest, there = parts.digest_of(settings), dict[str, list[Path]]()
    for each in files.children(out / parts.FOLDER):
        there.setdefault(_without_run(each.name), []).append(each)
    for bucket, stand in buckets.items():
        keys = {each.name: parts.key_of(head) for each, head in stand}
        name = parts.name_of(bucket, digest, keys)
        found = there.get(name, [])
        plan.names[bucket], done = _there(name, found, run, named, keep_errors=request.keep_errors)
        if done:
            plan.there[bucket] = done
        else:
            repositories = [_as_job(each, head) | {"key": keys[each.name]} for each, head in stand]
            about = {"part": plan.names[bucket], "old": old.get(bucket, ""), "settings": digest}
            plan.jobs[bucket] = {**shared, **about, "repositories": repositories}
    return plan


def _there(
    name: str, found: Sequence[Path], run: int, named: Container[str], *, keep_errors: bool
) -> tuple[str, parts.Done | None]:
    """Return the name of a part, of which these are there, with what it says where it need not be done again.

    One that holds errors, or rests on the clock, is done again. If a manifest names it, it stays for who reads it
    meanwhile, and the new one is called after the run.
    """
    stays = False
    for folder in sorted(found, key=lambda each: _run_of(each.name), reverse=True):
        done = parts.read_done(folder)
        if done and (keep_errors or not done.errors) and not done.rests_on_clock:
            return folder.name, done
        if folder.name in named and done:
            stays = True
        else:
            parts.remove(folder)
    return (f"{name}-{run}" if stays else name), None


def _without_run(name: str) -> str:
    return "-".join(name.split("-")[:2])


def _run_of(name: str) -> int:
    return int(name.rpartition("-")[2]) if name.count("-") > 1 else 0


def _as_job(each: Repository, head: Head) -> dict[str, str]:
    told = {"name": each.name, "place": each.place, "ref": head.ref, "commit": head.commit}
    return {**told, "objects": head.objects, "status": head.status, "error": head.error}


def _done(plan: _Plan, address: str, jobs: int, show: Callable[[int, int], None]) -> dict[int, Done]:
    """Have all jobs done, here or by the workers of a scheduler, and return what they made by bucket."""
    done = dict[int, parts.Done]()
    if not plan.jobs:
        return done
    first, repositories = next(iter(plan.jobs.values())), sum(len(job["repositories"]) for job in plan.jobs.values())
    try:
        with scheduler.remote(address, first) if address else workers.local(jobs) as submit:
            running = {submit(job): bucket for bucket, job in plan.jobs.items()}
            waiting = {*running}
            while waiting:
                show(sum(each.repositories for each in done.values()), repositories)
                ended, waiting = wait(waiting, _OFTEN, FIRST_COMPLETED)
                for each in ended:
                    done[running[each]] = each.result()
    except TaskstateError as error:
        there = f"{len(done) + len(plan.there)} of {counted(len(plan.names), 'bucket')} are done"
        help_ = f"{error.help or 'see above'}; {there}: run it again"
        raise TaskstateError(error.message, help=help_, code=error.code) from error
    return done


def _require_sense(errors: Sequence[Mapping[str, str]], repositories: int, request: Request) -> None:
    """Refuse an index in which most is missing: then the sources, or the rights, are not what was meant."""
    if request.keep_errors or len(errors) * 2 <= repositories:
        return
    first = f"{files.shown(errors[0]['repo'])}: {errors[0]['error']}"
    message = f"{len(errors)} of {manifest.repositories(repositories)} cannot be read, such as {first}"
    help_ = "check sources and rights; --keep-errors makes the index anyway"
    raise TaskstateError(message, help=help_, code="unreadable")


def _manifest(
    run: int, now: str, versions: Mapping[str, str], names: Mapping[int, str], every: Mapping[int, Done]
) -> Manifest:
    rows: dict[str, int] = {}
    for done in every.values():
        for table, count in done.rows.items():
            rows[table] = rows.get(table, 0) + count
    return manifest.Manifest(
        number=run,
        at=now,
        versions=versions,
        parts=[names[bucket] for bucket in sorted(names)],
        repositories=sum(done.repositories for done in every.values()),
        rows=rows,
        errors=sum(len(done.errors) for done in every.values()),
    )
