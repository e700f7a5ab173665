"""secret: something that looks like a credential stands in the file.

## What

Told are, by their form, some eighty kinds of keys and tokens (AWS, GitHub, GitLab, Slack, Google, Stripe, npm, PyPI,
JSON Web Tokens …), and private keys of every header; besides these a value behind a name such as `password` or
`api_key`, in an address or an `Authorization` header, where it looks random. Hashes, UUIDs, placeholders, variables and
documented examples (such as AWS's own, which end in `EXAMPLE`) are none. The value is shown in no output, neither in
this finding nor in another one about the same line.

## Why

The file is committed, sent to every agent that works on the task, and quoted in pull requests. A secret that was in a
commit is out: taking the line away does not bring it back.

## Example

```markdown
**What I did:**

- Tried the deployment with AKIA················
```

## Instead

Revoke it where it was committed or sent, then take it out, and name the place where it is kept:

```markdown
- Tried the deployment with the key `deploy` from the vault
```

## Configuration

A comment in the line itself allows what stands there: `taskstate: allow secret` behind `#`, `//` or `<!--`; so do
`gitleaks:allow` and `pragma: allowlist secret`. `[tool.taskstate.secrets]`: `allow = ["^AKIATEST"]` holds regular
expressions; a value in which one of them is found is no secret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import WHOLE, Diagnostic, Rule
from taskstate.lint.facts.wording import first_line_of
from taskstate.validation import secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS951",
    name="secret",
    summary="looks like a credential (the value is masked in every output)",
    reads=WHOLE,
)


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield what looks like a credential, at its first line; the value itself is not said."""
    for found in secrets.find(document.text, facts.config.secrets.allow):
        yield RULE.at(
            first_line_of(document, found.span),
            f"this looks like {found.kind}; its value is not shown",
            help="revoke it if it was committed or sent, take it out, and name the place where it is kept",
        )
