"""passes-without-proof: a feature passes and was never tested.

## What

A feature has `"passes": true` and `"tested_at": null`. The finding is at the `true`. If the configuration requires it,
`evidence` must be a command that ended with status 0, or a commit; words alone are then no proof. In a complete task,
features that an event `waived` of `audit.events` lists are not reported.

## Why

"Done" without a test is the most expensive mistake in a chain of tasks: the next task builds on something that does not
work. The time says when somebody last saw it work, and so against which state of the code.

## Example

```json
{"id": "jwt-1", "description": "makes a valid JWT", "passes": true, "tested_at": null}
```

## Instead

Test it, and record that with evidence:

```console
$ taskstate feature pass 101 jwt-1 --evidence "pytest -k jwt: 8 passed"
```

which gives

```json
{"id": "jwt-1", "description": "makes a valid JWT", "passes": true, "tested_at": "2026-01-31T12:00:00Z",
 "evidence": "pytest -k jwt: 8 passed"}
```

If it was not tested, set `passes` back to `false`. `--run` instead of `--evidence` runs the command itself, and records
it with its exit status and the hash of its output:

```json
"evidence": {"command": "pytest -k jwt", "exit_status": 0, "log_sha256": "9f86d081…"}
```

## Configuration

With `require-command-evidence = true` in `[tool.taskstate.lint]` only such a command, or `{"commit": "9ab3c1d"}`, is
accepted as `evidence`. It is off by default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import Diagnostic, Rule
from taskstate.lint.facts.waivers import read_waivers
from taskstate.model.statuses import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document
    from taskstate.syntax.nodes import Node

RULE = Rule(code="TS303", name="passes-without-proof", summary="a feature passes and was never tested")


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule takes both
    """Yield a finding for each passing feature that was never tested, or that lacks required evidence."""
    required = facts.config.lint.require_command_evidence
    for feature in facts.sound_features("passes", "tested_at", optional=("evidence", "id")):
        if feature["passes"].value() is not True:
            continue
        tested = feature["tested_at"].value() is not None
        if (tested and not (required and _lack(feature))) or _is_waived(feature, facts):
            continue
        if not tested:
            yield RULE.at(
                feature["passes"].span,
                "this feature passes, but `tested_at` does not say when it was tested",
                help="test it and run `taskstate feature pass`, or set `passes` to false",
            )
        else:
            yield RULE.at(
                feature["passes"].span,
                f"this feature passes, but {_lack(feature)}",
                help="run `taskstate feature pass` with `--run`, or name the commit: the configuration asks for it",
            )


def _is_waived(feature: Mapping[str, Node], facts: Facts) -> bool:
    """Return whether the task is complete and the evidence of this feature was waived."""
    feature_id = feature.get("id")
    return (
        feature_id is not None
        and facts.values.get("status") == COMPLETE
        and read_waivers(facts).covers(f"evidence:{feature_id.value()}")
    )


def _lack(feature: Mapping[str, Node]) -> str:
    """Return why a feature's evidence is neither a successful command nor a commit; empty where it is one."""
    evidence = feature.get("evidence")
    if evidence is None:
        return "it has no `evidence`"
    if evidence.kind != "mapping":
        return "its `evidence` is words, and neither a command that was run nor a commit"
    status = evidence.get("exit_status")
    return f"the command of its `evidence` ended with status {status.text}" if status and status.value() != 0 else ""
