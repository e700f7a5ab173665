"""The program of a child process: reads a bucket of repositories, and leaves a finished part.

`python -P -m taskstate.fleet.part` takes its job as one line of JSON and says in lines of JSON which repository it
begins, and at the end what it made. A repository is a stranger's: what is wrong with it is a row, and what breaks this
process is told by its end. It ends, and all git with it, when its standard input does: nobody waits for it any more.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
from contextlib import closing, contextmanager, suppress
from itertools import groupby
from pathlib import Path

from taskstate.errors import GitFailed, TaskstateError
from taskstate.fleet import heads, objects, parts, stores
from taskstate.lint.near_names import with_near_names
from taskstate.lint.runner import LintRequest, check_files, open_run
from taskstate.query.rows import FileText, lint_rows, rows_of, sound
from taskstate.secrets.mask import masked
from taskstate.storage import files, folders
from taskstate.storage.commit_files import CommitFiles, ListedFiles, require_hash
from taskstate.syntax.hashes import sha256
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from taskstate.query.tables import Row
    from taskstate.storage.git.client import Objects
    from taskstate.workspace.workspace import Workspace

OUT_OF_MEMORY = 70  # exit status
_COMMIT = re.compile(rb"tree ([0-9a-f]+)\n(?:.*\n)*?committer .* (-?\d{1,12}) [-+]\d{4}\n")
_BY_CLOCK = "in the future"  # what lint says of a time that will have come one day
_SHARE_OF_MEMORY = 2  # what DuckDB may take of it
MB = 1024**2


def main() -> int:
    """Do the job that stands on standard input, and return the exit status."""
    _end_with_input(line := sys.stdin.buffer.readline())
    job = json.loads(line)
    try:
        done = done_job(job)
    except TaskstateError as error:
        _say({"refused": str(error)})
    except OSError as error:
        _say({"refused": f"the index cannot be written: {error.strerror}: {files.shown(job['out'])}"})
    except MemoryError:
        return OUT_OF_MEMORY
    else:
        _say({"done": done._asdict()})
    return 0


def _end_with_input(line: bytes) -> None:
    """Have this process, and those that it started, end as soon as standard input does."""
    import signal
    from threading import Thread

    def wait() -> None:
        # Not by `sys.stdin`: Python would wait for its lock at the end, and abort.
        while line and os.read(sys.stdin.fileno(), 1):
            continue
        os.killpg(0, signal.SIGKILL)  # of its own: it is started as the leader of a session

    Thread(target=wait, daemon=True).start()


def _say(told: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def done_job(job: Mapping[str, Any]) -> parts.Done:
    """Make the part that a job asks for.

    Raises:
        TaskstateError: this is another version, or does not see the folder of the index; the part cannot be written.
    """
    out = Path(job["out"])
    parts.require_same(job)
    target = out / parts.FOLDER / job["part"]
    made = target.with_name(f"{target.name}.{secrets.token_hex(8)}{parts.UNFINISHED}")  # a worker may be elsewhere
    for folder in (made, made / "part", made / "git"):
        folders.make(folder, 0o700)
    objects.empty_folders(made / "git")
    rows, errors, clock = parts.Rows(made), list[dict[str, str]](), list[str]()
    old, kept = _kept(job, out)
    lengths = {"": 0}  # of the rows of each repository
    for each in sorted(job["repositories"], key=lambda each: (each["name"] != job["first"], each["name"])):
        if each["name"] in kept:
            continue
        _limit(job)
        parts.require_at_work(job)
        _say({"at": each["name"]})
        before = rows.length()
        row, by_clock = _read(each, job, made / "git", rows)
        lengths[each["name"]] = rows.length() - before
        row["error"] = masked(str(row["error"])) if row["error"] else None  # it may quote a file
        rows.add("repos", [sound(row)])
        clock += [each["name"]] if by_clock else []
        if row["status"] in {heads.ERROR, heads.CRASHED}:
            errors.append({key: str(row[key]) for key in ("repo", "status", "error")})
    # What breaks this process from now on is how much there is: most of it is of one repository.
    _say({"at": max(lengths, key=lengths.__getitem__), "while": "of its bucket it has most rows, and writing them: "})
    _set_limits(-1, -1)  # DuckDB has a limit of its own, and reserves more than it takes
    about = {
        "rows": rows.as_parquet(made / "part", job["worker_mb"] // _SHARE_OF_MEMORY, old, [*kept]),
        "repositories": len(job["repositories"]),
        "errors": sorted(errors, key=lambda each: each["repo"]),
        "rests_on_clock": sorted(clock),
        "settings": job["settings"],
        "keys": {each["name"]: each["key"] for each in job["repositories"]},
    }
    done = parts.finish(made / "part", target, about)
    folders.remove_all(made)
    return done


def _kept(job: Mapping[str, Any], out: Path) -> tuple[Path | None, set[str]]:
    """Return the old part and the repositories whose rows are taken from there: none, where it is damaged."""
    old = out / parts.FOLDER / job["old"] if job["old"] else None
    done = parts.read_done(old) if old else None
    if old is None or done is None or done.settings != job["settings"] or not parts.is_intact(old, done):
        return None, set()
    again = {*done.rests_on_clock, *(each["repo"] for each in done.errors)}
    return old, {
        each["name"]
        for each in job["repositories"]
        if done.keys.get(each["name"]) == each["key"] and each["name"] not in again
    }


def _limit(job: Mapping[str, Any]) -> None:
    """Bound what the next repository may take of memory and of the processor's time."""
    import time

    _set_limits(job["worker_mb"] * MB, int(time.process_time()) + job["repository_seconds"] + 1)


def _set_limits(memory: int, seconds: int) -> None:
    """Set the soft limits of this process; below 0 there is none."""
    import resource

    for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds)):
        hard = resource.getrlimit(kind)[1]
        soft = hard if most < 0 else most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(ValueError, OSError):  # macOS knows no bound of memory
            resource.setrlimit(kind, (soft, hard))


def _read(each: Mapping[str, str], job: Mapping[str, Any], empty: Path, rows: parts.Rows) -> tuple[Row, bool]:
    """Add the rows of a repository, and return its own, and whether it rests on the clock."""
    keys = ("ref", "head", "tree", "committed_at", "scope", "config_sha", "taskstate_pinned")
    row: Row = {"repo": each["name"], **dict.fromkeys(keys), "files": 0, "bytes": 0, "status": each["status"]}
    head = None if stores.is_address(each["place"]) else each["commit"] or None
    row |= {"ref": each["ref"] or None, "head": head, "error": each["error"] or None}
    if each["name"] in job["crashed"]:
        return row | {"status": heads.CRASHED, "error": job["crashed"][each["name"]]}, False
    if each["status"] != heads.OK:
        return row, False
    mark = rows.mark()
    try:
        with _opened(each, job, empty) as (source, about):
            found, by_clock = _indexed(each["name"], job, source, rows)
    except TaskstateError as error:
        rows.back(mark)
        told = str(error).replace(str(objects.home(empty, each["commit"])), each["place"])
        return row | {"status": heads.ERROR, "error": f"{'config: ' * (error.code in _OF_CONFIG)}{told}"}, False
    return row | about | found, by_clock


_OF_CONFIG = {"config", "kind"}


@contextmanager
def _opened(each: Mapping[str, str], job: Mapping[str, Any], empty: Path) -> Iterator[tuple[ListedFiles, Row]]:
    """Yield the files of a repository, and what is said of their commit."""
    place, commit = each["place"], each["commit"]
    if stores.is_address(place):
        entries = stores.listed(place, commit)
        _require_bounded([entry.size for entry in entries.values()], job)
        yield stores.opened(objects.home(empty, commit), place, entries), {"scope": "files"}
        return
    with closing(objects.opened(empty, each["objects"], commit, frozenset(job["roots"]))) as reader:
        about = _commit(reader, commit)
        yield CommitFiles(Path(place), commit, reader), about | {"scope": "commit"}


def _indexed(name: str, job: Mapping[str, Any], source: ListedFiles, rows: parts.Rows) -> tuple[Row, bool]:
    workspace = find_workspace(source.root, source=source, config_file=job["config"])
    own = workspace.own_files()
    sizes = [source.length(path) for path in own]
    _require_bounded(sizes, job)
    for path in own:
        for table, listed in rows_of(_text(name, path, source, workspace)).items():
            rows.add(table, listed)
    found = _lint(name, own, workspace, job, source.objects) if job["lint"] else []
    rows.add("lint", found)
    config = workspace.config
    about: Row = {
        "files": len(own),
        "bytes": sum(sizes),
        "taskstate_pinned": config.required_version,
        "config_sha": sha256(repr(config).encode("utf-8", "surrogateescape")),
    }
    return about, any(_BY_CLOCK in str(row["message"]) for row in found)


def _commit(reader: Objects, commit: str) -> Row:
    """Return what the commit itself says: its tree and its time."""
    data = reader.read(commit)
    if data is None:
        raise GitFailed(f"the commit {commit} is not in the repository", help="fetch it again")
    found = _COMMIT.match(data)
    if not found:
        raise GitFailed(f"the object {commit} is not a commit")
    require_hash(commit, data, kind="commit")
    from datetime import UTC, datetime

    try:
        at = datetime.fromtimestamp(int(found[2]), UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        at = None
    return {"tree": found[1].decode("ascii"), "committed_at": at}


def _require_bounded(sizes: Sequence[int], job: Mapping[str, Any]) -> None:
    if len(sizes) > job["most_files"]:
        message = f"it has {len(sizes)} files of taskstate's own, more than {job['most_files']}"
        raise TaskstateError(message, help="raise `most-files` of `[fleet]`", code="too-many")
    if sum(sizes) > job["most_mb"] * MB:
        message = f"its files of taskstate's own hold more than {job['most_mb']} MB"
        raise TaskstateError(message, help="raise `most-mb` of `[fleet]`", code="too-large")


def _text(repo: str, path: Path, source: ListedFiles, workspace: Workspace) -> FileText:
    data, unread = b"", ""
    try:
        data = source.read(path)
    except GitFailed as error:
        if error.code != "too-large":  # git lacks an object, or gives another one: the repository is damaged
            raise
        unread = error.code
    except TaskstateError as error:
        unread = error.code
    name = path.relative_to(workspace.root).as_posix()
    allow, blob = workspace.config.secrets.allow, source.mark(path) or None
    return FileText(repo, name, data, unread, allow, workspace.kinds, blob)


def _lint(repo: str, own: Sequence[Path], workspace: Workspace, job: Mapping[str, Any], reader: Objects) -> list[Row]:
    config = workspace.config
    if job["select"] is not None:
        config = config._replace(lint=config.lint._replace(select=tuple(job["select"]), extend_select=()))
    run, _ = open_run(workspace, config, LintRequest(job["now"], remember=False, jobs=1))
    run.repository.all_files = tuple(own)
    try:
        report = check_files(own, run)
        if workspace.other_texts():
            report = with_near_names(report, [workspace.root], run)
        reader.require_whole()  # lint passes over what it cannot read
    finally:
        run.repository.close()
    return [row for _, each in groupby(report.findings, lambda each: each.path) for row in lint_rows(repo, [*each])]


if __name__ == "__main__":
    sys.exit(main())
