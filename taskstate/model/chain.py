"""What one task hands down to the next: the output of a complete task, and its copy among another task's Chain Inputs.

An output is the text of those parts of the section Chain Output that say something, verbatim, with LF line ends. In a
downstream task it stands quoted line by line, so that nothing in it can become structure there, behind a comment that
says which task, revision and content it was taken from, and when. Everything else in that section belongs to people
and stays as it is. Pure: who reads the other task's file passes it in.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.model import chain_quotes, document_kinds, names
from taskstate.model.canonical_json import sha256
from taskstate.model.chain_quotes import SHA, ChainInput, Upstream
from taskstate.model.statuses import COMPLETE
from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL, read_state
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import Span, with_newlines

if TYPE_CHECKING:
    from taskstate.model.chain_quotes import RenderedInput
    from taskstate.model.config import Config
    from taskstate.model.document_kinds import Kind
    from taskstate.syntax.document import Document, Section


OUTPUT, INPUTS = "Chain Output", "Chain Inputs"

_COMMENT = (
    r"<!--[ \t]*taskstate: input[ \t]+(?P<id>[A-Za-z0-9._-]+)[ \t]+r(?P<revision>[0-9]{1,9})[ \t]+"
    r"sha256:(?P<sha>[0-9a-f]{16,64})[ \t]+(?P<time>[^\s>]+)[ \t]*-->[ \t]*(?=[\r\n]|\Z)"
)
_QUOTE = r"(?:[ \t]*+(?:\r\n|\r|\n))++(?P<quote>(?: {0,3}>[^\r\n]*+(?:\r\n|\r|\n|\Z))++)"
_CONFLICT = r"(?m)^(?:<{7}|>{7})(?: |$)"
_SECTION_HEADING = r"(?m)^ {0,3}##[ \t]+(.*\S)"
_RULE = r" {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*"
_BLANK_LINES = r"(?:[ \t]*+\n)++"
_BLANKS = r"(?m)^[ \t]+$"
_LINE_END = r"\r\n|\r|\n"
_NOTHING = ("", "None.", "None")  # what says that there are no inputs; the first one takes its place


class NamedInput(NamedTuple):
    """A heading among the Chain Inputs that names a task, and whether anything stands below it."""

    id: str
    section: Section
    is_filled: bool


def read_upstream(document: Document, path: str) -> Upstream:
    """Return what the state file `document` at `path` says to those that build on it."""
    own = names.own_file(path)
    state = read_state(document, (own and own.id) or "")
    output = output_of(document) if state.status == COMPLETE else ""
    return Upstream(
        id=(own and own.id) or state.id,
        path=path,
        title=" ".join(state.title.split()),
        status=state.status,
        revision=state.revision,
        depends_on=state.depends_on,
        output=output,
        output_sha=sha256(output)[:SHA] if output else "",
        files=_files(document) if output else (),
    )


def _files(document: Document) -> tuple[tuple[str, str | None], ...]:
    """Return the files that `complete` found named; nothing of what a hand made unreadable."""
    block = document.front_matter.get("output")
    told = block.get("files") if isinstance(block, dict) else None
    loose = [each for each in told or () if isinstance(each, dict)] if isinstance(told, list) else []
    found = ((each.get("path"), each.get("sha256")) for each in loose)
    return tuple((path, sha) for path, sha in found if isinstance(path, str) and isinstance(sha, str | None))


def is_complete(document: Document) -> bool:
    """Return whether a state file says that its task is complete; its front matter alone tells."""
    return document.front_matter.get("status") == COMPLETE


def output_of(document: Document) -> str:
    """Return the output that a state file holds; empty where there is none, or where nobody can tell it."""
    kind = document_kinds.kind_of(document.front_matter.get("kind"))
    section = _section(document, OUTPUT)
    if section is None or kind.section(OUTPUT) is None or any(not block.closed for block in document.blocks):
        return ""
    children = document.children(section, PART_LEVEL)
    lead = Span(section.body.start, children[0].span.start if children else section.span.end)
    said = [_verbatim(document, lead)] if _says_something(kind, lead.of(document.text)) else []
    said += [_verbatim(document, each.span) for each in children if _says_something(kind, each.body.of(document.text))]
    output = _without_blanks("\n\n".join(said))
    return "" if re.compile(_CONFLICT).search(output) else output


def inputs_of(document: Document) -> tuple[ChainInput, ...]:
    """Return the Chain Inputs that were pulled into a state file, in the order of the text."""
    section = _section(document, INPUTS)
    found = []
    for block in document.blocks_in(section.body, "html") if section else ():
        comment = re.compile(_COMMENT).match(document.text, *block.span)
        if comment:
            place = Span(*comment.span())
            behind = re.compile(_QUOTE).match(document.text, place.end, section.body.end if section else 0)
            quote = Span(*behind.span("quote")) if behind else Span(place.end, place.end)
            quote = Span(quote.start, quote.start + len(quote.of(document.text).rstrip("\r\n")))
            found.append(
                ChainInput(comment["id"], int(comment["revision"]), comment["sha"], comment["time"], place, quote)
            )
    return tuple(found)


def named_inputs(document: Document) -> tuple[NamedInput, ...]:
    """Return the headings among the Chain Inputs that name a task, whoever wrote what stands below them."""
    section = _section(document, INPUTS)
    kind = document_kinds.kind_of(document.front_matter.get("kind"))
    found = []
    for child in document.children(section, PART_LEVEL) if section else ():
        groups = _input_heading(child.title)
        if groups:
            is_filled = not _is_open(kind, _content(document, child.body).of(document.text))
            found.append(NamedInput(groups["task_id"], child, is_filled))
    return tuple(found)


def has_input(document: Document, task_id: str) -> bool:
    """Return whether the output of a task is among the Chain Inputs, pulled or written there by hand."""
    key = task_id.casefold()
    return any(each.id.casefold() == key for each in inputs_of(document)) or any(
        each.is_filled and each.id.casefold() == key for each in named_inputs(document)
    )


def is_current(document: Document, present: ChainInput, upstream: Upstream, config: Config) -> bool:
    """Return whether an input is of the output that there is, and its quote is what the tool has written."""
    return chain_quotes.is_untouched(present.quote.of(document.text), present, upstream, config)


def render_input(upstream: Upstream, now: str, config: Config) -> str:
    """Return a Chain Input, with LF line ends; `now` is a timestamp.

    Raises:
        TaskstateError: the output is empty, or it or the title holds control characters.
    """
    return "\n\n".join(chain_quotes.render_chain_input(upstream, now, config))


def with_input(text: str, upstream: Upstream, now: str, config: Config) -> str:
    """Return the state file `text` with an upstream output among its Chain Inputs, as it is now.

    One that is there is brought up to date, and otherwise left alone to the byte; what somebody added to its quote
    stays below it. A new one comes to the end of the section, or in the place of what said that there is none.

    Raises:
        TaskstateError: as `render_input`; there are no Chain Inputs; or something in them swallows what is added.
    """
    document = parse(text)
    section = _section(document, INPUTS)
    if section is None:
        raise TaskstateError(
            f"there is no section {INPUTS}", help=f"add `## 2. {INPUTS}` to the state file", code="section-missing"
        )
    _require_sure_end(document, section, upstream)
    new = chain_quotes.render_chain_input(upstream, now, config)
    present = [each for each in inputs_of(document) if each.id.casefold() == upstream.id.casefold()]
    if present:
        stale = [each for each in present if not is_current(document, each, upstream, config)]
        edits = [_block(document, each.span, _renewed(document, each, upstream, new)) for each in stale]
    else:
        edits = [_added(document, section, upstream, new)]
    after = apply(text, edits)
    _prove(document, after, upstream, count=0 if present else 1)
    return after


def _section(document: Document, name: str) -> Section | None:
    key = document_kinds.section_key(name)
    sections = (each for each in document.sections if each.level == SECTION_LEVEL)
    return next((each for each in sections if document_kinds.section_key(each.title) == key), None)


def _says_something(kind: Kind, body: str) -> bool:
    body = body.strip()
    return bool(body) and not kind.is_placeholder(body) and not escaping.is_blank(body)


def _verbatim(document: Document, span: Span) -> str:
    text = with_newlines(span.of(document.text), "\n").rstrip(" \t\n")
    blank = re.compile(_BLANK_LINES).match(text)
    return text[blank.end() :] if blank else text


def _without_blanks(output: str) -> str:
    """Return an output in which a blank line is empty, but in code fences: the formatter makes it so in both files."""
    if not re.compile(_BLANKS).search(output):
        return output
    fences = parse(output).blocks_in(Span(0, len(output)), "fence")
    blanks = [Edit(*match.span(), "") for match in re.compile(_BLANKS).finditer(output)]
    return apply(
        output, [edit for edit in blanks if not any(each.span.start < edit.start < each.span.end for each in fences)]
    )


def _input_heading(title: str) -> dict[str, str] | None:
    """Return what the heading of a Chain Input says: the task's id and title."""
    section = document_kinds.kind("task").section(INPUTS)
    found = (spec.match(title) for spec in (section.subsections if section else ()))
    return next((dict(groups) for groups in found if groups and "task_id" in groups), None)


def _renewed(document: Document, present: ChainInput, upstream: Upstream, new: RenderedInput) -> str:
    """Return comment and quote in the place of earlier ones; what somebody wrote into the quote stays, below it."""
    theirs = chain_quotes.added_lines(present.quote.of(document.text), present, upstream)
    return "\n\n".join(filter(None, (new.comment, new.quote, theirs)))


def _added(document: Document, section: Section, upstream: Upstream, rendered: RenderedInput) -> Edit:
    """Return the edit that adds an input: below its own open heading, for what says that there is none, or last."""
    heading, comment, quote = rendered
    kind = document_kinds.kind_of(document.front_matter.get("kind"))
    for named in named_inputs(document):
        if named.id.casefold() == upstream.id.casefold() and not named.is_filled:
            content = _content(document, named.section.body)
            return _block(document, content, f"{comment}\n\n{quote}")
    content = _content(document, section.body)
    whole = f"{heading}\n\n{comment}\n\n{quote}"
    if _is_open(kind, content.of(document.text)):
        return _block(document, content, whole)
    return _block(document, Span(content.end, content.end), whole)


def _is_open(kind: Kind, content: str) -> bool:
    return content in _NOTHING or kind.is_placeholder(content)


def _content(document: Document, span: Span) -> Span:
    """Return `span` without the blank lines around it, and without a rule that closes it.

    An empty one stands at the end of the line before it.
    """
    text = span.of(document.text)
    kept = text.rstrip(" \t\r\n")
    last = max(kept.rfind("\n"), kept.rfind("\r")) + 1
    before = kept[:last].rstrip(" \t\r\n")
    if re.compile(_RULE).fullmatch(kept, last) and (
        not before or len(re.compile(_LINE_END).findall(kept, len(before), last)) > 1
    ):
        kept = before
    if not kept:
        start = span.start - len(_line_end_before(document.text, span.start))
        return Span(start, start)
    end = len(kept) + len(text[len(kept) :]) - len(text[len(kept) :].lstrip(" \t"))
    return Span(span.start + len(kept) - len(kept.lstrip(" \t\r\n")), span.start + end)


def _line_end_before(text: str, at: int) -> str:
    if text.endswith("\r\n", 0, at):
        return "\r\n"
    return text[at - 1 : at] if text[at - 1 : at] in {"\r", "\n"} else ""


def _block(document: Document, span: Span, new: str) -> Edit:
    """Return the edit that puts `new` in the place of `span`, with a blank line before and behind it."""
    text, nl = document.text, document.newline
    before, behind = text[: span.start], text[span.end :]
    stripped = before.rstrip(" \t")
    last = _line_end_before(stripped, len(stripped))
    if not last:
        above = nl * 2 if stripped else ""
    else:
        rest = stripped[: -len(last)].rstrip(" \t")
        above = "" if not rest or rest[-1] in "\r\n" else nl
    following = re.compile(_LINE_END).match(behind)
    next_line = behind[following.end() :] if following else behind
    blank = not next_line.strip(" \t") or bool(re.compile(_LINE_END).match(next_line.lstrip(" \t")))
    return Edit(span.start, span.end, above + with_newlines(new, nl) + ("" if blank else nl))


def _require_sure_end(document: Document, section: Section, upstream: Upstream) -> None:
    """Refuse a text in which something takes in the heading that should end the Chain Inputs.

    Raises:
        TaskstateError: code "unsafe".
    """
    kind = document_kinds.kind_of(document.front_matter.get("kind"))
    there = {document_kinds.section_key(each.title) for each in document.sections if each.level == SECTION_LEVEL}
    absent = {document_kinds.section_key(each.name) for each in kind.sections} - there
    blocks = [block for block in document.blocks if section.body.start <= block.span.start < section.body.end]
    for block in blocks if absent else ():
        text = with_newlines(block.span.of(document.text), "\n")
        titles = (match[1] for match in re.finditer(_SECTION_HEADING, text))
        name = next((title for title in titles if document_kinds.section_key(title) in absent), "")
        if name:
            line = document.position(block.span.start).line + 1
            raise TaskstateError(
                f"the output of task {upstream.id} cannot be pulled: what begins in line {line} never closes before "
                f"the heading {name!r}",
                help="run `taskstate lint` and close the fence or comment that it names",
                code="unsafe",
            )


def _prove(before: Document, text: str, upstream: Upstream, *, count: int) -> None:
    """Refuse a text in which the input is not there, or in which another section reads differently.

    Raises:
        TaskstateError: code "unsafe".
    """
    after = parse(text)
    key = upstream.id.casefold()
    present = [each for each in inputs_of(after) if each.id.casefold() == key]
    right = bool(present) and all(each.is_of(upstream) for each in present)
    right = right and len(inputs_of(after)) == len(inputs_of(before)) + count
    if not right or _others(after) != _others(before):
        raise TaskstateError(
            f"the output of task {upstream.id} cannot be pulled: something in {INPUTS} never closes",
            help="run `taskstate lint` and mend the fence or comment that it names",
            code="unsafe",
        )


def _others(document: Document) -> list[str]:
    """Return the text of all sections but the Chain Inputs."""
    inputs = _section(document, INPUTS)
    sections = (each for each in document.sections if each.level == SECTION_LEVEL and each is not inputs)
    return [each.span.of(document.text) for each in sections]
