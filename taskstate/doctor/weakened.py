"""Says where the configuration asks for less than the default does.

It comes with the repository, from whoever made that.
"""

from __future__ import annotations

from taskstate.lint.selection import selected_rules
from taskstate.messages import counted, first_of
from taskstate.model.config import Config
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taskstate.model.config import Lint

_MOST = 5  # named in one line


class Weakening(NamedTuple):
    """A key of the configuration, and what it lets pass that the default would not."""

    key: str
    message: str


def weakenings(config: Config) -> Iterator[Weakening]:
    """Yield what a configuration lets pass that the default would not."""
    lint, default = config.lint, Config()
    if config.secrets.allow:
        yield Weakening(
            "secrets.allow", f"values are written that look like credentials: {_shown(config.secrets.allow)}"
        )
    if config.exclude:
        yield Weakening("exclude", f"files are not looked at: {_shown(config.exclude)}")
    left_out = _left_out(lint)
    if left_out:
        yield Weakening("lint", f"{counted(len(left_out), 'rule')} not checked: {_shown(left_out)}")
    if lint.per_file_ignores:
        yield Weakening("lint.per-file-ignores", f"rules are not checked in {_shown(lint.per_file_ignores)}")
    lowered = [selector for selector, severity in lint.severity.items() if severity == "warning"]
    if lowered:
        yield Weakening("lint.severity", f"these are warnings and no errors: {_shown(lowered)}")
    if lint.append_only != default.lint.append_only:
        yield Weakening("lint.append-only", f"sessions may be rewritten until they are {lint.append_only}")
    if config.size.max_kb > default.size.max_kb:
        yield Weakening("size.max-kb", f"files may grow to {config.size.max_kb:g} KB before they are archived")
    if not config.handoff.minimum_progress:
        yield Weakening("handoff.minimum-progress", "a handoff is made also where nothing was done since the last one")


def _left_out(lint: Lint) -> list[str]:
    everywhere = lint._replace(per_file_ignores={})
    checked = {rule.code for rule in selected_rules(everywhere, "")}
    return [rule.code for rule in selected_rules(Config().lint, "") if rule.code not in checked]


def _shown(words: Iterable[str]) -> str:
    return first_of([printable(each) for each in words], _MOST, separator=", ", last=" and ")
