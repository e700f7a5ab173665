"""proof-missing: a feature passes, and what would prove it is missing or was changed.

## What

A feature has `"passes": true` and no `evidence`, in a task that is open; only features that came to pass since the
compared revision count, and in any task those whose evidence is gone since. Or its `evidence` names the log of a
command, and the task's artifacts here do not hold it; or it has the log of committed evidence and says something else
than that did; or its command ended with another status than 0. In a complete task, features that an event `waived` of
`audit.events` lists are not reported.

## Why

The next task builds on what passes. Evidence says how that was seen, and can be repeated; a log that nobody has, or the
end of one that was edited, proves nothing.

## Example

```json
{"id": "jwt-1", "description": "makes a valid JWT", "passes": true, "tested_at": "2026-01-31T12:00:00Z"}
```

## Instead

```console
$ taskstate feature pass 101 jwt-1 --run "pytest -k jwt"
```

runs the command and records it with its exit status, the hash and the end of its output. `--evidence "8 tests passed"`
records words, and `--evidence-commit` a commit.

## Configuration

With `require-command-evidence = true` in `[tool.taskstate.lint]` this is an error, for every feature that passes, and
only a command that ended with status 0, or a commit, is accepted as `evidence`. It is off by default.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import ERROR, WARNING, Diagnostics, Rule
from taskstate.lint.facts.session_history import all_comparable
from taskstate.lint.facts.waivers import is_waived, waivers_of_features
from taskstate.lint.facts.wording import feature_pass
from taskstate.model.statuses import COMPLETE, DROPPED
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from taskstate.lint.facts.feature_facts import SoundFeature
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of(
    "TS311", __name__, "a feature passes, and what would prove it is missing or was changed", severity=WARNING
)

_NONE = "it has no `evidence`"
_EDITED = "its `evidence` was edited: with the same log, something else was committed"
_GONE = "its `evidence`, which was committed, is gone"


class _Earlier(NamedTuple):
    """The evidence of the passing features at the compared revision, by id; None where nothing is compared."""

    evidence: Mapping[str, list[object]] | None

    def has(self, feature: SoundFeature) -> bool:
        """Return whether a feature passed with the same evidence; where nothing is compared, every one may have."""
        return self.evidence is None or feature.values.get("evidence") in self.of(feature)

    def of(self, feature: SoundFeature) -> list[object]:
        """Return what was the evidence of a feature."""
        return (self.evidence or {}).get(feature.values["id"], [])


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding for each passing feature that was tested."""
    waivers = waivers_of_features(facts)
    passing = [each for each in _tested(facts, facts.doubtful_features) if not is_waived(each, waivers)]
    if not passing:
        return
    required = facts.config.lint.require_command_evidence
    is_open = facts.values.get("status") not in {COMPLETE, DROPPED}
    earlier = _earlier(facts)
    for feature in passing:
        flaw = _insufficient(feature) if required else ""
        failed = feature.node.get("evidence", "exit_status")
        if failed and failed.value() and not earlier.has(feature):
            flaw = _insufficient(feature)
        elif not flaw and any(earlier.of(feature)) and not feature.values.get("evidence"):
            flaw = _GONE
        elif not flaw and is_open:
            flaw = _flaw(feature, earlier, facts)
        if flaw:
            severity = ERROR if required else WARNING
            command = feature_pass(facts.shown_id, feature.values["id"], facts.values.get("status"))
            way = "--evidence TEXT" if flaw in {_NONE, _GONE} and not required else "--run CMD"
            help_ = f"`{command} {way}` or `… --commit SHA` records what proves it"
            place = failed.span if failed and failed.value() else None
            key = "evidence" if flaw in {_EDITED, _GONE} and "evidence" in feature.values else "passes"
            yield RULE.at(place or feature.span(key), f"this feature passes, but {flaw}", help=help_, severity=severity)


def _tested(facts: Facts, among: Iterable[int]) -> Iterator[SoundFeature]:
    for feature in facts.sound_features("id", "passes", "tested_at", optional=("evidence",), among=among):
        if feature.values["tested_at"] is not None:
            yield feature


def _earlier(facts: Facts) -> _Earlier:
    past = all_comparable(facts)
    if past is None:
        return _Earlier(None)
    evidence: dict[str, list[object]] = {}
    for then in past:
        for feature in _tested(then, then.passing_features):
            evidence.setdefault(feature.values["id"], []).append(feature.values.get("evidence"))
    return _Earlier(evidence)


def _flaw(feature: SoundFeature, earlier: _Earlier, facts: Facts) -> str:
    """Return why a feature's evidence proves nothing, as the rest of a sentence; empty where it does."""
    evidence = feature.values.get("evidence")
    if not evidence:
        return "" if earlier.has(feature) else _NONE
    log = evidence.get("log_sha256") if isinstance(evidence, dict) else None
    if not isinstance(log, str) or (earlier.evidence is not None and earlier.has(feature)):
        return ""
    if any(isinstance(each, dict) and each.get("log_sha256") == log for each in earlier.of(feature)):
        return _EDITED
    return "the artifacts do not hold the log of its `evidence`" if facts.queries.has_log(log) is False else ""


def _insufficient(feature: SoundFeature) -> str:
    """Return why a feature's evidence is neither a successful command nor a commit; empty where it is one."""
    evidence = feature.node.get("evidence")
    if evidence is None:
        return _NONE
    if evidence.kind != "mapping":
        return "its `evidence` is words, and neither a command that was run nor a commit"
    status = evidence.get("exit_status")
    return f"the command of its `evidence` ended with status {status.text}" if status and status.value() != 0 else ""
