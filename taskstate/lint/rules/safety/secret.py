"""secret: the file has something that looks like a credential.

## What

Reported are, by their form, some hundred and fifty kinds of keys and tokens (AWS, GitHub, GitLab, Slack, Google,
Stripe, npm, PyPI, JSON Web Tokens …), and private keys with any header; also a value behind a name such as
`password`, `api_key` or `ACME_TOKEN` in the same line, in an address or in an `Authorization` header, if it looks
random. It does not matter how name and value are joined: `name = value`, `"name": "value"`, `<name>value</name>`,
`--name value`, `name := value`, or as arguments. Hashes, placeholders, variables, keys of caches and tables, and
documented examples (such as AWS's own, which end in `EXAMPLE`) are not reported. The value is masked in all output, in
this finding and in others about the same line.

## Why

The file is committed, sent to every agent that works on the task, and quoted in pull requests. A secret that was in a
commit is leaked: removing the line does not undo that.

## Example

```markdown
**What I did:**

- Tried the deployment with AKIA················
```

## Instead

Revoke it if it was committed or sent, then remove it, and name the place where it is kept:

```markdown
- Tried the deployment with the key `deploy` from the vault
```

## Configuration

A comment in a line allows the values in it: `taskstate: allow secret` behind `#`, `//` or `<!--`; so do
`gitleaks:allow` and `pragma: allowlist secret`. `allow = ["^AKIATEST"]` in `[tool.taskstate.secrets]` is a list of
regular expressions; a value that one of them matches is not a secret.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WHOLE, Diagnostics, Rule
from taskstate.lint.facts.wording import first_line_of
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS951", __name__, "looks like a credential (the value is masked in every output)", reads=WHOLE)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each suspected credential, at its first line, without its value."""
    for secret in facts.credentials:
        yield RULE.at(
            first_line_of(facts.document, secret.span),
            f"this looks like {secret.kind}; its value is not shown",
            help="revoke it if it was committed or sent, delete it here, and name the place where it is kept",
        )
