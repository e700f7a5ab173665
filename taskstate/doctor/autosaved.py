"""Says what the person has allowed autosave, and how full the contexts of this tree's sessions were at last."""

from __future__ import annotations

from taskstate.autosave import consent, fill, notes
from taskstate.setup.clients import CLIENTS
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace.config_files import CONFIG_FILES, config_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.workspace.workspace import Workspace

_SHOWN = 3  # sessions
_DIGITS = 8  # of a session's id


def remarks(workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Yield what is worth knowing, each with what can be done; nothing where nobody has allowed anything."""
    level, problem = consent.said(workspace.root)
    if problem:
        yield f"what you said of it does not count: {problem}", "until then nothing is read or kept"
    if level == consent.OFF:
        return
    yield f"{level}: {consent.MEANING[level]}", "`taskstate init --autosave off` undoes that"
    settings = workspace.config.autosave
    measured = [each for each in notes.all_notes(workspace.private) if each.used and each.client in CLIENTS]
    for note in sorted(measured, key=lambda each: each.at)[-_SHOWN:]:
        if words := fill.words(note, settings):
            yield f"at {note.at} the context of {note.client} {note.session[:_DIGITS]} was {words}", ""
    unknown = sorted({CLIENTS[each.client].title for each in measured if not fill.limit(each, settings)})
    if unknown:
        message = f"{' and '.join(unknown)} did not say how much the context holds, so nobody is told how full it is"
        name = config_name(workspace.root) or CONFIG_FILES[0]
        table = "autosave" if name == CONFIG_FILES[0] else "tool.taskstate.autosave"
        yield message, f"say it in {name}, such as `window = 200000` in the table `[{table}]`"
