"""ack-above-version: somebody has confirmed a version that does not exist yet.

## What

A number in `acks` is higher than the `version` of the permanent task.

## Why

Who has confirmed a version that is still to come is told nothing when it comes, and works on what he does not know. It
happens when the version is taken back by hand, or an ack is written by hand.

## Example

```yaml
version: 7
acks: {ada: 9}
```

## Instead

```yaml
version: 7
acks: {ada: 7}
```

```console
$ taskstate permanent ack --agent ada --version 7
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.wording import shown
from taskstate.messages import quoted
from taskstate.model.permanent import confirmed, version_of
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TSP05", __name__, "somebody has confirmed a version that does not exist yet")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each agent with an ack above the version, at its place."""
    is_faulty = "version" in facts.document.front_matter and "version" not in facts.values
    if not facts.is_permanent or is_faulty:
        return
    version = version_of(facts.state)
    for agent, number in confirmed(facts.values).items():
        if number > version:
            ack = f"`taskstate permanent ack --agent {quoted(agent)} --version {version}`"
            yield RULE.at(
                facts.value_span("acks", agent),
                f"{shown(agent)} has confirmed v{number}, and the newest version is v{version}",
                help=f"write at most {version}, or remove it; {ack} confirms what there is",
            )
