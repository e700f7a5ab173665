"""artifact-differs: an artifact that the file names has another SHA-256; one that is missing here is a warning.

## What

The front matter names artifacts with the hash of their content: the log of the baseline, the log of a role's own
checks, the diffs of a snapshot and the list of its changed files. Such a file is under the state folder, and here its
content has another hash. For a `.gz` file the unpacked content counts, and in a diff every line end counts as LF.

A folder of a snapshot is named after the hash of the record in it, which has the hashes of its diffs and of its list.

Git ignores the artifacts, so in another clone they are missing. What never was here, with the folder that it lies in,
is no finding; where that folder is, there is one warning for all that are missing in it, at the first.

## Why

Logs and diffs are read to judge the work, so they must be what was recorded. A file that another run has overwritten,
or that is damaged or edited, tells a false story.

## Example

```yaml
baseline:
  log_sha256: "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
```

and the content of `artifacts/task-101/qa-baseline-2d711642.log.gz` has the hash `9f86d081…`.

## Instead

Copy the right file from the machine on which the work was done; the whole folder `artifacts/` can be copied. If it is
lost, record it again: `taskstate qa record` for a log, `taskstate snapshot take` for a snapshot of a role that is still
at work. Completing the task deletes all artifacts.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import FRONT_MATTER, WARNING, Diagnostics, Rule
from taskstate.lint.facts.wording import shown
from taskstate.model.delta_block import with_record
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.delta_block import Snapshot

RULE = Rule.of(
    "TS704",
    __name__,
    "an artifact named in the file has another SHA-256; one that is missing here is a warning",
    reads=FRONT_MATTER,
)


class _Artifact(NamedTuple):
    """An artifact that the file names: its path, its recorded hash or an empty text, and the keys that lead to it."""

    path: str
    sha256: str
    keys: tuple[str, ...]
    diff: bool = False
    may_miss: bool = False


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each artifact that differs, at its path, and one warning for all that are missing."""
    missing = []
    for named in _named(facts):
        actual = facts.queries.artifact(named.path, diff=named.diff) if named.sha256 else None
        if actual == "" or (not named.sha256 and facts.queries.has_artifact(named.path) is False):
            was_here = facts.queries.has_artifact(named.path.rpartition("/")[0]) is not False
            missing += [named] if was_here and not named.may_miss else []
        elif actual and not actual.startswith(named.sha256):
            yield RULE.at(
                facts.value_span(*named.keys),
                f"the artifact {shown(named.path)} was changed: its SHA-256 is {actual[:16]}…, "
                f"not {named.sha256[:16]}…",
                help="bring the right file back from where the work was done, or record it again",
            )
    if missing:
        others = len(missing) - 1
        more = f", and neither {'is' if others == 1 else 'are'} {others} more that the file names" if others else ""
        yield RULE.at(
            facts.value_span(*missing[0].keys),
            f"the artifact {shown(missing[0].path)} is not here{more}",
            help="copy it from where the work was done; git ignores artifacts, so another clone has none of them",
            severity=WARNING,
        )


def _named(facts: Facts) -> Iterator[_Artifact]:
    """Yield the artifacts that the file names."""
    baseline = facts.blocks.baseline
    yield from _log(baseline.log, baseline.log_sha256, baseline.values, ("baseline", "log"))
    for role in facts.roles_with_log:
        yield from _log(role.qa_log_path, role.qa_log_sha256, role.values, ("coordination", role.name, "qa_log_path"))
    for name, snapshot in facts.blocks.delta.snapshots.items():
        yield from _of_snapshot(facts, snapshot, "delta", "snapshots", name)


def _log(
    path: str | None, sha256: str | None, values: Mapping[str, object], keys: tuple[str, ...]
) -> Iterator[_Artifact]:
    """Yield the log of checks; of one that only its hash names, nobody can tell whether it was purged."""
    if keys[-1] in values:
        yield from _one(path, sha256, *keys)
    elif path is not None:
        yield _Artifact(path, sha256 or "", (*keys[:-1], f"{keys[-1].removesuffix('_path')}_sha256"), may_miss=True)


def _of_snapshot(facts: Facts, snapshot: Snapshot, *at: str) -> Iterator[_Artifact]:
    """Yield the artifacts of a snapshot: as the file says of one of an earlier version, else as their record does."""
    folder, listed = (*at, "pack"), (*at, "files_changed")
    if snapshot.record and "diff_sha" not in snapshot.values:
        record = facts.queries.artifact_text(snapshot.record)
        yield _Artifact(snapshot.record, (snapshot.folder or "").rpartition("/")[2], folder, may_miss=True)
        snapshot, listed = with_record(snapshot, record), folder
    if snapshot.diff_sha:
        yield from _one(snapshot.diff_from_base, snapshot.diff_sha, *folder, diff=True)
    if snapshot.incremental_diff_sha:
        yield from _one(snapshot.incremental_diff, snapshot.incremental_diff_sha, *folder, diff=True)
    if snapshot.file_list and snapshot.file_list.sha256:
        yield from _one(snapshot.file_list.path, snapshot.file_list.sha256, *listed)
    yield from _one(snapshot.folder, None, *folder)


def _one(path: str | None, sha256: str | None, *keys: str, diff: bool = False) -> Iterator[_Artifact]:
    if path is not None:
        yield _Artifact(path, sha256 or "", keys, diff)
