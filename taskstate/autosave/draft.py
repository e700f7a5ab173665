"""Says what a session did where its agent did not: facts, and apart from them the words that were said in it.

Pure. Facts may enter a state file by themselves; words are a person's and the agent's, and stay private unless somebody
takes them over. All that is quoted is data: masked as a whole first, then cut, one line each, and inert as Markdown.
"""

from __future__ import annotations

import re

from taskstate.autosave.work import EDITED, program
from taskstate.messages import counted, one_line
from taskstate.model.session_texts import COMMITS, DID, ISSUES, NEXT, STATE, VERIFICATION
from taskstate.secrets.mask import masked
from taskstate.syntax.escaping import inert
from taskstate.syntax.spans import printable
from taskstate.transcripts.events import Interruption, Prompt, Words
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from taskstate.autosave.work import CheckRun, Work
    from taskstate.transcripts.events import Event

_FILES, _CHECKS, _FAILING, _COMMITS, _ITEMS = 20, 8, 5, 8, 5  # that are listed
_LINE, _QUOTE, _LAST = 100, 200, 600  # characters of a command line, of a quote, and of the last words
_TEXT = 4 * 1024  # bytes of a draft as it is given back
_KEYS = (DID, ISSUES, STATE, NEXT, COMMITS, VERIFICATION)
# What carries no order and no news of its own.
_WEAK = r"(?i)\W*(?:y|yes|ok(?:ay)?|go(?: on| ahead)?|continue|proceed|sure|please|thanks?(?: you)?|next|do it|lgtm)\W*"
_STRONG = r"(?i)\b(?:decided|root cause|turned out|turns out|did not work|didn't work|does not work|reverted|gave up)\b"
_SENTENCE = r"(?<=[.!?])\s+|\n+"
_ITEM = r"[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t]+(?:\[ \][ \t]+)?"
# What stands behind the label at the beginning of a line or of a sentence, and the items of the list below it.
_NEXT = (
    r"(?im)(?:^[#*_> \t]{0,8}|(?<=[.!?] )[*_]{0,3})(?:next(?: steps?)?|to-? ?do|remaining|(?:still )?left to do)\b"
    rf"[*_ \t]*+(?::[*_ \t]*+(.*))?+((?:\n+{_ITEM}.+)*)"
)
_ENDS = {
    "clear": "ended when a person cleared the conversation",
    "logout": "ended when a person logged out",
    "prompt_input_exit": "ended when a person left it at the prompt",
}
NOT_SAID = "not said by the agent"


class Draft(NamedTuple):
    """What a session did, by the keys of a session's texts: `facts`, and `words` that were said in it."""

    facts: Mapping[str, tuple[str, ...]]
    words: Mapping[str, tuple[str, ...]]

    def texts(self, *, with_words: bool) -> dict[str, tuple[str, ...]]:
        """Return the values of each text of a session; what the agent said of the next step is in place of none."""
        told = {key.key: self.facts.get(key.key, ()) for key in _KEYS}
        for key, values in self.words.items() if with_words else ():
            told[key] = (*(each for each in told[key] if not each.startswith(NOT_SAID)), *values)
        return told

    def session(self, *, with_words: bool) -> dict[str, str | tuple[str, ...]]:
        """Return the same as the values of a new session, whose state is one text."""
        told = self.texts(with_words=with_words)
        return {**told, STATE.key: "; ".join(told[STATE.key])}

    @property
    def text(self) -> str:
        """All of it to read, at most 4 KB: a line for each label, and its values below."""
        told = self.texts(with_words=True)
        shown = [key for key in _KEYS if told[key.key]]
        lines = [line for key in shown for line in (f"{key.label}:", *map("- {}".format, told[key.key]))]
        kept = "\n".join(lines).encode()
        return kept.decode() if len(kept) <= _TEXT else kept[:_TEXT].decode("utf-8", "ignore").rpartition("\n")[0]


class Circumstances(NamedTuple):
    """What else is known of a session: its client, the branch, how it ended, its commits, and the bytes not read.

    `ended` says what it did, as `ending` does; `began` and `at` are the moments between which it worked. `is_inferred`
    says that nobody saw its end: what changed until the next one began may be another's. `steps` are the next steps of
    session `steps_of`, the last one of the log that an agent said itself. `last_words` are those that the client gave
    to a hook, `allow` the configuration's patterns of what is no secret.
    """

    client: str = ""
    branch: str = ""
    ended: str = ""
    began: str = ""
    at: str = ""
    is_inferred: bool = False
    steps: tuple[str, ...] = ()
    steps_of: int = 0
    commits: tuple[str, ...] = ()
    unread: int = 0
    last_words: str = ""
    allow: tuple[str, ...] = ()


def ending(reason: str) -> str:
    """Return how a session ended, by the word of its client: of most of them it says no more than that."""
    return _ENDS.get(reason, "ended")


def draft_of(work: Work, events: Sequence[Event], known: Circumstances) -> Draft:
    """Return the draft of a session from what it did and what was said in it."""
    facts = {
        DID.key: (*_files(work, known), *_counts(work, known)),
        ISSUES.key: tuple(dict.fromkeys(_issues(work, known))),
        STATE.key: (_state(work, known),),
        NEXT.key: _steps(known) or (NOT_SAID,),
        COMMITS.key: tuple(known.commits[-_COMMITS:]),
        VERIFICATION.key: tuple(_verified(each, known) for each in work.checks[:_CHECKS]),
    }
    words = _Spoken(events, work, known)
    said = {
        DID.key: tuple(words.asked()),
        ISSUES.key: tuple(words.turns_of_mind()),
        STATE.key: tuple(words.state()),
        NEXT.key: tuple(words.next_steps()),
    }
    return Draft(facts, {key: values for key, values in said.items() if values})


# Facts


def _files(work: Work, known: Circumstances) -> Iterator[str]:
    by_tool = [each for each in work.files if each.by_tool]
    files = by_tool if by_tool and known.is_inferred else work.files
    for each in files[:_FILES]:
        lines = f" +{each.added} -{each.removed}" if each.added or each.removed else ""
        lines += ", and git finds no change of it now" if each.how == EDITED else ""
        yield f"{_code(each.path, known, _QUOTE)}: {each.how}{lines}"
    if len(files) > _FILES:
        yield f"and {counted(len(files) - _FILES, 'more file')}"
    if len(files) < len(work.files):
        others = counted(len(work.files) - len(files), "more file")
        yield f"{others} changed until the next session began, by whomever"
    if work.outside:
        yield f"{counted(work.outside, 'file')} outside of the repository"


def _counts(work: Work, known: Circumstances) -> Iterator[str]:
    said = ((work.prompts, "prompt"), (work.commands, "command"), (work.agents, "sub-agent"))
    parts = [counted(number, noun) for number, noun in said if number]
    if work.todo and (work.todo.done or work.todo.left):
        parts.append(f"to-do {work.todo.done} of {work.todo.done + len(work.todo.left)} done")
    if known.unread:
        parts.append(f"the first {known.unread // 2**20 or 1} MB of the transcript were not read")
    if parts:
        yield ", ".join(parts)


def _issues(work: Work, known: Circumstances) -> Iterator[str]:
    for each in work.checks[:_CHECKS]:
        if each.failed and each.passed:
            yield f"{_command(each.line, known)} failed {each.failed} of {counted(each.runs, 'time')}, and passes now"
    for failing in work.failing[:_FAILING]:
        yield f"{_command(program(failing.line), known)}: exit status {failing.status}"
    if work.refused:
        yield f"{counted(work.refused, 'edit')} failed or {'was' if work.refused == 1 else 'were'} refused"
    if work.interruptions:
        yield f"interrupted by a person {counted(work.interruptions, 'time')}"


def _verified(check: CheckRun, known: Circumstances) -> str:
    """Return how the last run of a check ended."""
    status = "" if check.status is None else f" (exit status {check.status})"
    hidden = f"hidden by {'a pipe' if check.hidden == '|' else 'a later command'}" if check.hidden else "not known"
    ends = {True: f"passed{status}", False: f"failed{status}", None: f"ran, its status is {hidden}"}[check.passed]
    return f"{_command(check.line, known)}: {ends}{', before later edits' if check.is_old else ''}"


def _state(work: Work, known: Circumstances) -> str:
    failing = [each.line for each in work.checks if each.passed is False]
    began, at = (each[:16].replace("T", " ") for each in (known.began, known.at))
    when = f"at {at}" if began == at else f"from {began} to {at}"
    parts = [
        f"the session {known.ended}",
        f"it worked {when} UTC" if began else "",
        f"branch {_code(known.branch, known, _LINE)}" if known.branch else "",
        f"{_command(failing[0], known)} fails" if failing else "",
        f"{counted(len(failing) - 1, 'more check')} fail{'' if failing[2:] else 's'}" if len(failing) > 1 else "",
    ]
    return "; ".join(filter(None, parts))


def _steps(known: Circumstances) -> tuple[str, ...]:
    return tuple(f"{_quote(each, known, _QUOTE)} (said in session {known.steps_of})" for each in known.steps[:_ITEMS])


def _command(line: str, known: Circumstances) -> str:
    return _code(line, known, _LINE)


def _code(text: str, known: Circumstances, most: int) -> str:
    """Return a path or a command as code, in which nothing is read as Markdown."""
    line = _line(text, known, most).replace("`", "'").replace("<!--", "<\\!--")
    return f"`{line}`"


# Words


class _Spoken:
    """What was said in a session, as quotes."""

    def __init__(self, events: Sequence[Event], work: Work, known: Circumstances) -> None:
        self._events, self._work, self._known = events, work, known
        self._prompts = [
            (number, each.text)
            for number, each in enumerate(events)
            if isinstance(each, Prompt) and not re.fullmatch(_WEAK, each.text)
        ]
        self._words = [each for each in events if isinstance(each, Words) and not each.summary]

    def asked(self) -> Iterator[str]:
        """Yield what the person asked for: first and last, and up to three between."""
        texts = [text for _, text in self._prompts]
        shown = texts if len(texts) <= _ITEMS else [texts[0], *texts[-_ITEMS + 1 :]]
        yield from (f"asked: {self._quoted(each)}" for each in shown)

    def turns_of_mind(self) -> Iterator[str]:
        """Yield what was written after an interruption, and sentences in which the agent says why it changed course."""
        for number, each in enumerate(self._events):
            if isinstance(each, Interruption):
                then = next((text for at, text in self._prompts if at > number), "")
                yield from (f"after an interruption: {self._quoted(then)}",) if then else ()
        sentences = (part for each in self._words for part in re.split(_SENTENCE, each.text))
        yield from (f"failed: {_command(each.line, self._known)}" for each in self._work.failing[:_FAILING])
        strong = [each for each in sentences if re.search(_STRONG, each)]
        yield from (f"said: {self._quoted(each)}" for each in strong[-3:])

    def state(self) -> Iterator[str]:
        """Yield what the checks printed as their results, and the agent's last words."""
        for check in self._work.checks[:_CHECKS]:
            if check.result:
                yield f"{_command(check.line, self._known)} printed {self._quoted(check.result)}"
        if self._last():
            yield f"last words: {self._quoted(self._last(), _LAST)}"

    def next_steps(self) -> Iterator[str]:
        """Yield a prompt without an answer, what the to-do list has open, and what the last words say comes next."""
        answered = max((number for number, each in enumerate(self._events) if isinstance(each, Words)), default=-1)
        if self._prompts and self._prompts[-1][0] > answered and not self._known.last_words:
            yield f"not answered: {self._quoted(self._prompts[-1][1])}"
        left = self._work.todo.left if self._work.todo else ()
        yield from (f"to-do: {self._quoted(each)}" for each in left[:_ITEMS])
        said = (line for found in re.findall(_NEXT, self._last()) for line in "\n".join(found).split("\n"))
        steps = [re.sub(f"^{_ITEM}", "", each) for each in said if each.strip()]
        yield from (self._quoted(each) for each in steps[:_ITEMS])

    def _last(self) -> str:
        """Return the agent's last words. To its hook Gemini CLI gives all that was said in the session as one."""
        written = self._words[-1].text if self._words else ""
        return (written if self._known.client == "gemini" else "") or self._known.last_words or written

    def _quoted(self, text: str, most: int = _QUOTE) -> str:
        return f'"{_quote(text, self._known, most)}"'


def _quote(text: str, known: Circumstances, most: int) -> str:
    """Return a text as a quote: without credentials, on one line, and without a mark that Markdown reads."""
    return inert(_line(text, known, most))


def _line(text: str, known: Circumstances, most: int) -> str:
    return one_line(printable(masked(text, known.allow)), most)
