"""passes-without-proof: a feature passes and was never tested.

## What

A feature has `"passes": true` and `"tested_at": null`. The finding stands at the `true`. Where the configuration asks
for it, `evidence` must be a command that ended with status 0, or a commit; words alone are then no proof. Nothing is
said of a feature of a complete task that an event `waived` of `audit.events` lists as let pass.

## Why

"Done" without a test is the most expensive mistake in a chain of tasks: the next one builds on something that is not
there. The time says when somebody last saw it work, and against which state of the code that was.

## Example

```json
{"id": "jwt-1", "description": "makes a valid JWT", "passes": true, "tested_at": null}
```

## Instead

Test it, and record that with what shows it:

```console
$ taskstate feature pass 101 jwt-1 --evidence "pytest -k jwt: 8 passed"
```

which gives

```json
{"id": "jwt-1", "description": "makes a valid JWT", "passes": true, "tested_at": "2026-01-31T12:00:00Z",
 "evidence": "pytest -k jwt: 8 passed"}
```

If it was not tested, set `passes` back to `false`. `--run` in the place of `--evidence` runs the command itself, and
records it with its exit status and the hash of its output:

```json
"evidence": {"command": "pytest -k jwt", "exit_status": 0, "log_sha256": "9f86d081…"}
```

## Configuration

`[tool.taskstate.lint]`: `require-command-evidence = true` accepts as `evidence` only such a command, or
`{"commit": "9ab3c1d"}`. It is off by default.
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
    """Yield the `true` of each feature that passes without a time at which it was tested, or without asked evidence."""
    asked = facts.config.lint.require_command_evidence
    for feature in facts.sound_features("passes", "tested_at", optional=("evidence", "id")):
        if feature["passes"].value() is not True:
            continue
        tested = feature["tested_at"].value() is not None
        if (tested and not (asked and _lack(feature))) or _is_let_pass(feature, facts):
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


def _is_let_pass(feature: Mapping[str, Node], facts: Facts) -> bool:
    """Return whether the task was completed with this feature as it is."""
    own = feature.get("id")
    return (
        own is not None
        and facts.values.get("status") == COMPLETE
        and read_waivers(facts).covers(f"evidence:{own.value()}")
    )


def _lack(feature: Mapping[str, Node]) -> str:
    """Return what a feature's evidence lacks to be a command that ended well, or a commit; nothing where it is one."""
    evidence = feature.get("evidence")
    if evidence is None:
        return "it has no `evidence`"
    if evidence.kind != "mapping":
        return "its `evidence` is words, and neither a command that was run nor a commit"
    status = evidence.get("exit_status")
    return f"the command of its `evidence` ended with status {status.text}" if status and status.value() != 0 else ""
