"""artifact-differs: an artifact that the file names has another SHA-256; one that is missing here is a warning.

## What

The front matter names artifacts with the hash of their content: the log of the baseline, the log of a role's own
checks, the diffs of a snapshot and the list of its changed files. Such a file is under the state folder, and here its
content has another hash. For a `.gz` file the unpacked content counts, and in a diff every line end counts as LF.

Git ignores the artifacts, so in another clone they are missing. That is one warning for all of them, at the first.

## Why

Logs and diffs are read to judge the work, so they must be what was recorded. A file that another run has overwritten,
or that is damaged or edited, tells a false story.

## Example

```yaml
baseline:
  status: recorded
  log: artifacts/task-101/qa-baseline-2d711642.log.gz
  log_sha256: "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
```

and the content of that file has the hash `9f86d081…`.

## Instead

Copy the right file from the machine on which the work was done; the whole folder `artifacts/` can be copied. If it is
lost, record it again: `taskstate qa record` for a log, `taskstate snapshot take` for a snapshot of a role that is still
at work. Once the task is complete, `taskstate purge 101` deletes all artifacts; its events keep who, when, and the hash
of each diff.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import FRONT_MATTER, WARNING, Diagnostic, Rule
from taskstate.lint.facts.wording import shown
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.delta_block import Snapshot
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS704",
    name="artifact-differs",
    summary="an artifact named in the file has another SHA-256; one that is missing here is a warning",
    reads=FRONT_MATTER,
)


class _Artifact(NamedTuple):
    """An artifact that the file names: its path, its recorded hash or an empty text, and the keys that lead to it."""

    path: str
    sha256: str
    keys: tuple[str, ...]
    diff: bool = False


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule is called alike
    """Yield a finding for each artifact that differs, at its path, and one warning for all that are missing."""
    missing = []
    for named in _named(facts):
        actual = facts.queries.artifact(named.path, diff=named.diff) if named.sha256 else None
        if actual == "" or (not named.sha256 and facts.queries.has_artifact(named.path) is False):
            missing.append(named)
        elif actual and named.sha256 != actual:
            yield RULE.at(
                facts.value_span(*named.keys),
                f"the artifact {shown(named.path)} holds something else: its SHA-256 is {actual[:16]}…, "
                f"not {named.sha256[:16]}…",
                help="bring the right file back from where the work was done, or record it anew",
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
    blocks = facts.blocks
    yield from _one(blocks.baseline.log, blocks.baseline.log_sha256, "baseline", "log")
    for role in facts.roles_with_log:
        yield from _one(role.qa_log_path, role.qa_log_sha256, "coordination", role.name, "qa_log_path")
    for name, snapshot in blocks.delta.snapshots.items():
        yield from _of_snapshot(snapshot, "delta", "snapshots", name)


def _of_snapshot(snapshot: Snapshot, *at: str) -> Iterator[_Artifact]:
    folder = (*at, "pack")
    yield from _one(snapshot.diff_from_base, snapshot.diff_sha, *folder, diff=True)
    yield from _one(snapshot.incremental_diff, snapshot.incremental_diff_sha, *folder, diff=True)
    if snapshot.file_list and snapshot.file_list.sha256:
        yield from _one(snapshot.file_list.path, snapshot.file_list.sha256, *at, "files_changed")
    yield from _one(snapshot.folder, None, *folder)


def _one(path: str | None, sha256: str | None, *keys: str, diff: bool = False) -> Iterator[_Artifact]:
    if path is not None:
        yield _Artifact(path, sha256 or "", keys, diff)
