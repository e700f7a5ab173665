"""passes-without-proof: a feature passes and was never tested.

## What

A feature has `"passes": true` and `"tested_at": null`. The finding is at the `true`. In a complete task, features that
an event `waived` of `audit.events` lists are not reported. What proves that it was tested is a matter of TS311.

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
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.waivers import is_waived, waivers_of_features
from taskstate.lint.facts.wording import feature_pass
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS303", __name__, "a feature passes and was never tested")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each passing feature that was never tested."""
    waivers = waivers_of_features(facts)
    for feature in facts.sound_features("passes", "tested_at", optional=("id",), among=facts.untested_features):
        if not is_waived(feature, waivers):
            command = feature_pass(facts.shown_id, feature.values.get("id", "ID"), facts.values.get("status"))
            yield RULE.at(
                feature.span("passes"),
                "this feature passes, but `tested_at` does not say when it was tested",
                help=f"test it and run `{command} --evidence TEXT`, or set `passes` to false",
            )
