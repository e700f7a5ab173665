r"""path-escapes: a path leaves the repository, is absolute, or goes through a link that does.

## What

Checked are the paths that tools follow: those of the front matter (archive, task file, sources, logs, diffs, evidence,
handoffs, output), the files of the Standards, the globs of Repository Paths and of an Impact Map, and those that a
handoff names. Such a path begins at the repository's root or at the state folder and stays inside: it is not absolute,
has no drive letter and no `~`, and does not leave by `..` (also written with `\`). Where the disk can be read, no link
on the way leads outside either. A changed file of a snapshot may itself be such a link.

## Why

Commands read, hash, pack and replace the files at these paths, on the machine of everybody who has the state file. A
path that leads outside makes them read files that were never meant to be read, and means another file on every machine.

## Example

```markdown
### Repository Paths

- `../billing/src/**`
- `/home/ann/notes.md`
```

## Instead

Name paths in this repository; for files elsewhere, describe in words where to look:

```markdown
### Repository Paths

- `src/**`
```

A link that leads outside can be replaced by a copy of its target, or by a file that says where the target is.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.wording import first_line_of, shown
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.validation.schema_files import KeyPath

RULE = Rule.of("TS952", __name__, "a path leaves the repository, is absolute, or goes through a link that does")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each path that leads outside, at its place."""
    for use, reason in facts.escaping_paths:
        yield RULE.at(
            first_line_of(facts.document, use.span),
            f"{_called(use.keys, facts)} is {shown(use.path)}, which {reason}",
            help=f"write a path that begins at the root of {use.root} and stays inside, with / between its parts",
        )


def _called(keys: KeyPath, facts: Facts) -> str:
    from taskstate.validation.schema_errors import json_path

    unnamed = "this path of the handoff" if facts.file_type == "handoff" else "this item of the Repository Paths"
    return f"`{json_path(keys)}`" if keys else unnamed
