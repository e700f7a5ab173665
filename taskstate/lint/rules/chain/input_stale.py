"""input-stale: an upstream output changed after it was pulled.

## What

A Chain Input records the SHA-256 of the output that it was made from, and the upstream task's Chain Output differs now;
or the quote below that comment was changed or removed. Only the content of the output counts: a new revision of the
upstream file with the same output is not reported. While the upstream task is not `complete`, for example after it was
reopened, nothing is reported, and neither is it in a task that is complete itself: it keeps what it was built on. The
finding is at the comment that the tool has written above the quote.

## Why

The work here builds on what is no longer true. A renamed interface is then noticed only when the parts are put
together, which is late.

## Example

Task 100 has changed its output since revision 9:

```markdown
### From Task #100: Database Schema

<!-- taskstate: input 100 r9 sha256:9f86d081884c7d65 2024-11-26T14:00:00Z -->

> ### Summary
>
> Users table: id (UUID), email (unique), password_hash, created_at.
```

## Instead

`taskstate lint --fix` pulls it again: it replaces the comment and the quote, keeps the text around them, and moves text
that was written into the quote to a quote of its own below. A line of the quote that was edited gives way to the true
one, and is kept (`taskstate doctor kept list`). `taskstate chain pull 101` does it for one task and shows
the new output. Then check whether the work done so far still fits.

An output that was edited after its task was completed is not pulled by `--fix`: settle that first ([TS907](TS907.md)).
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WARNING, Diagnostics, Fix, Rule
from taskstate.lint.facts.upstreams import completed_upstream, is_own_task, takes_inputs
from taskstate.lint.facts.wording import first_change
from taskstate.model.chain import is_current
from taskstate.model.chain_quotes import quote_of
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.chain_quotes import ChainInput, Upstream
    from taskstate.syntax.spans import Span

RULE = Rule.of("TS904", __name__, "an upstream output changed after it was pulled", severity=WARNING, fixable=True)


_AGAIN = "`--fix` pulls it again; then see whether the work done so far still fits"
_EDITED = "its output was edited after the task was completed: fix TS907 there first, then pull it"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each Chain Input that differs from the present output."""
    if not takes_inputs(facts):
        return
    for pulled in facts.chain_inputs:
        upstream = None if is_own_task(facts, pulled.id) else completed_upstream(facts, pulled.id)
        if upstream and not is_current(facts.document, pulled, upstream, facts.config):
            is_stale = not pulled.is_of(upstream)
            yield RULE.at(
                pulled.comment if is_stale else _place(pulled, upstream, facts),
                _stale(pulled, upstream) if is_stale else _changed(pulled),
                help=_EDITED if upstream.is_edited else _AGAIN,
                fix=None if upstream.is_edited else Fix(job="pull", about=upstream.id),
            )


def _stale(pulled: ChainInput, upstream: Upstream) -> str:
    now = f"; it is at {upstream.revision} now" if upstream.revision != pulled.revision else ""
    return f"the output of task {upstream.id} changed after it was pulled at revision {pulled.revision}{now}"


def _place(pulled: ChainInput, upstream: Upstream, facts: Facts) -> Span:
    """Return the first line of a quote that is not as it was pulled; the comment where nothing of it is left."""
    if pulled.quote.start == pulled.quote.end:
        return pulled.comment
    return first_change(facts.document, pulled.quote, quote_of(upstream, facts.config))


def _changed(pulled: ChainInput) -> str:
    is_empty = pulled.quote.start == pulled.quote.end
    change = "was removed after it was pulled" if is_empty else "is not what was pulled"
    return f"the quote of the output of task {pulled.id} {change} at revision {pulled.revision}"
