"""artifact-differs: an artifact that the file names has another SHA-256; one that is missing here is a warning.

## What

The front matter names artifacts with the hash of what they hold: the log of the baseline, the log of a role's own
checks, the diffs of a snapshot and the list of its changed files. Such a file lies under the state folder, and here
holds something else. Where it ends in `.gz` what is packed in it counts, and in a diff every line end is LF.

Git ignores the artifacts, so in another clone they are missing. That is a warning, one for all of them, at the first.

## Why

Whoever reads a log or a diff in order to judge the work has to read what was recorded. One that was overwritten by
another run, torn or edited tells a story that never happened.

## Example

```yaml
baseline:
  status: recorded
  log: artifacts/task-101/qa-baseline-2d711642.log.gz
  log_sha256: "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
```

and the log in that file hashes to `9f86d081…`.

## Instead

Bring the right file back from wherever the work was done: `artifacts/` can be copied as a folder. Where it is lost,
record anew: `taskstate qa record` for a log, `taskstate snapshot take` for a snapshot of a role that is still at work.
Once the task is over, `taskstate purge 101` drops all of it, and its events keep who, when, and the hash of each diff.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.lint.diagnostics import FRONT_MATTER, WARNING, Diagnostic, Rule
from taskstate.lint.facts.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS704",
    name="artifact-differs",
    summary="an artifact named in the file has another SHA-256; one that is missing here is a warning",
    reads=FRONT_MATTER,
)

# In a snapshot: the key of a path, the key of its hash, and whether line ends count as LF.
_OF_SNAPSHOT = (("diff_from_base", "diff_sha", True), ("incremental_diff", "incremental_diff_sha", True))


class _Named(NamedTuple):
    """An artifact that the file names, with its hash where the file tells one, and where its path stands."""

    path: str
    sha256: str
    keys: tuple[str, ...]
    text: bool = False


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule is called alike
    """Yield an error for each artifact that differs, at its path, and one warning for all that are missing."""
    missing = []
    for named in _named(facts):
        found = facts.queries.artifact(named.path, text=named.text) if named.sha256 else None
        if found == "" or (not named.sha256 and facts.queries.has_artifact(named.path) is False):
            missing.append(named)
        elif found not in {None, named.sha256}:
            yield RULE.at(
                facts.value_span(*named.keys),
                f"the artifact {shown(named.path)} holds something else: its SHA-256 is {str(found)[:16]}…, "
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


def _named(facts: Facts) -> Iterator[_Named]:
    """Yield the artifacts that the file names."""
    values = facts.values
    yield from _one(_map(values, "baseline"), "log", "log_sha256", ("baseline",))
    for name in _map(values, "coordination"):
        role = ("coordination", name)
        yield from _one(_map(values, *role), "qa_log_path", "qa_log_sha256", role)
    for name in _map(values, "delta", "snapshots"):
        at = ("delta", "snapshots", name)
        snapshot = _map(values, *at)
        for key, hashed, text in _OF_SNAPSHOT:
            yield from _one(snapshot, key, hashed, at, text=text)
        listed = (*at, "files_changed")
        yield from _one(_map(values, *listed), "path", "sha256", listed)
        yield from _one(snapshot, "pack", "", at)


def _one(told: dict[str, Any], key: str, hashed: str, at: tuple[str, ...], *, text: bool = False) -> Iterator[_Named]:
    path, sha256 = told.get(key), told.get(hashed)
    if isinstance(path, str):
        yield _Named(path, sha256 if isinstance(sha256, str) else "", (*at, key), text)


def _map(values: Any, *keys: str) -> dict[str, Any]:  # noqa: ANN401 - what a front matter holds
    """Return the map that stands at `keys`, or an empty one."""
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    return values if isinstance(values, dict) else {}
