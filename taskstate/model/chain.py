"""Task outputs and chain inputs: reads what a completed task hands to its dependents, and quotes it in their files.

An output is the text of the filled parts of the section Chain Output, verbatim, with LF line ends. In a downstream
task it is quoted line by line, so that nothing in it can become structure there, below a comment with the task,
revision and hash that it was taken from, and the time. Everything else in that section belongs to people and is not
touched. Pure: the caller reads the other task's file.
"""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.model import chain_quotes, document_kinds, names
from taskstate.model.canonical_json import sha256
from taskstate.model.chain_quotes import SHA, ChainInput, Upstream
from taskstate.model.statuses import COMPLETE
from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL, read_state, section_of
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

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
# Possessive quantifiers (`*+`, `++`): blank lines or quoted lines without end must not make the match try all splits.
_QUOTE = r"(?:[ \t]*+(?:\r\n|\r|\n))++(?P<quote>(?: {0,3}>[^\r\n]*+(?:\r\n|\r|\n|\Z))++)"
_CONFLICT = r"(?m)^(?:<{7}|>{7})(?: |$)"
_SECTION_HEADING = r"(?m)^ {0,3}##[ \t]++(.*\S)"
_RULE = r" {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*"
_BLANK_LINES = r"(?:[ \t]*+\n)++"
_BLANKS = r"(?m)^[ \t]+$"
_LINE_END = r"\r\n|\r|\n"
_NOTHING = ("", "None.", "None")  # contents that mean "no inputs"; the first input replaces them


class NamedInput(NamedTuple):
    """A heading among the Chain Inputs that names a task, and whether anything stands below it."""

    id: str
    section: Section
    is_filled: bool


def read_upstream(document: Document, path: str) -> Upstream:
    """Return what downstream tasks need of the state file `document` at `path`."""
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
        kind=state.kind,
        is_edited=state.status == COMPLETE and not is_as_completed(document),
    )


def _files(document: Document) -> tuple[tuple[str, str | None], ...]:
    """Return the files of the block `output`, which `complete` wrote; entries damaged by hand are left out."""
    block = document.front_matter.get("output")
    files = block.get("files") if isinstance(block, dict) else None
    entries = [each for each in files or () if isinstance(each, dict)] if isinstance(files, list) else []
    pairs = ((each.get("path"), each.get("sha256")) for each in entries)
    return tuple((path, sha) for path, sha in pairs if isinstance(path, str) and isinstance(sha, str | None))


def is_complete(document: Document) -> bool:
    """Return whether the front matter of a state file says that its task is complete."""
    return document.front_matter.get("status") == COMPLETE


def is_as_completed(document: Document) -> bool:
    """Return whether the output in a state file is the one that was handed down when the task was completed."""
    block, output = document.front_matter.get("output"), output_of(document)
    sha = block.get("sha256") if isinstance(block, dict) else None
    return not output or not isinstance(sha, str) or sha == sha256(output)


def output_of(document: Document) -> str:
    """Return the output in a state file; empty where there is none, or where its end is uncertain."""
    kind = document_kinds.kind_of(document)
    section = section_of(document, OUTPUT)
    if section is None or kind.section(OUTPUT) is None or any(not block.closed for block in document.blocks):
        return ""
    children = document.children(section, PART_LEVEL)
    lead = Span(section.body.start, children[0].span.start if children else section.span.end)
    parts = [_verbatim(document, lead)] if _is_filled(kind, lead.of(document.text)) else []
    parts += [_verbatim(document, each.span) for each in children if _is_filled(kind, each.body.of(document.text))]
    output = _without_blanks("\n\n".join(parts))
    return "" if re.compile(_CONFLICT).search(output) else output


def inputs_of(document: Document) -> tuple[ChainInput, ...]:
    """Return the Chain Inputs that were pulled into a state file, in the order of the text."""
    return document.derived(_inputs, None)


def _inputs(document: Document, _given: None) -> tuple[ChainInput, ...]:
    section = section_of(document, INPUTS)
    inputs, end = [], section.body.end if section else 0
    for block in document.blocks_in(section.body, "html") if section else ():
        comment = re.compile(_COMMENT).match(document.text, *block.span)
        if comment:
            span = Span(*comment.span())
            quote_match = re.compile(_QUOTE).match(document.text, span.end, end)
            quote = Span(*quote_match.span("quote")) if quote_match else Span(span.end, span.end)
            quote = Span(quote.start, quote.start + len(quote.of(document.text).rstrip("\r\n")))
            below = document.text[quote.end : end].lstrip()
            if below and not below.startswith("### From Task"):
                quote = chain_quotes.torn_quote(document.text, Span(span.end, end), comment["sha"]) or quote
            inputs.append(
                ChainInput(comment["id"], int(comment["revision"]), comment["sha"], comment["time"], span, quote)
            )
    return tuple(inputs)


def named_inputs(document: Document) -> tuple[NamedInput, ...]:
    """Return the headings among the Chain Inputs that name a task, whether the tool or a person wrote them."""
    return document.derived(_named_inputs, None)


def _named_inputs(document: Document, _given: None) -> tuple[NamedInput, ...]:
    section = section_of(document, INPUTS)
    kind = document_kinds.kind_of(document)
    inputs = []
    for child in document.children(section, PART_LEVEL) if section else ():
        groups = _input_heading(child.title)
        if groups:
            is_filled = not _is_empty(kind, _content(document, child.body).of(document.text))
            inputs.append(NamedInput(groups["task_id"], child, is_filled))
    return tuple(inputs)


def has_input(document: Document, task_id: str) -> bool:
    """Return whether the output of a task is among the Chain Inputs, pulled by the tool or written by hand."""
    key = task_id.casefold()
    return any(each.id.casefold() == key for each in inputs_of(document)) or any(
        each.is_filled and each.id.casefold() == key for each in named_inputs(document)
    )


def is_current(document: Document, present: ChainInput, upstream: Upstream, config: Config) -> bool:
    """Return whether an input quotes the current output of the upstream task, and nobody has edited the quote."""
    quote = with_newlines(present.quote.of(document.text), "\n")
    return present.is_of(upstream) and chain_quotes.is_quote_of(quote, upstream, config)


def render_input(upstream: Upstream, now: str, config: Config) -> str:
    """Return a Chain Input, with LF line ends; `now` is a timestamp.

    Raises:
        TaskstateError: the output is empty, or it or the title holds control characters.
    """
    return "\n\n".join(chain_quotes.render_chain_input(upstream, now, config))


def with_input(document: Document, upstream: Upstream, now: str, config: Config) -> str:
    """Return the text of a state file with the current output of an upstream task among its Chain Inputs.

    An input that is there is updated only if it is stale; lines that somebody added to its quote are kept below it. A
    new one is added in the natural order of the ids, or replaces a placeholder.

    Raises:
        TaskstateError: as `render_input`; there are no Chain Inputs; or an unclosed fence or comment would contain it.
    """
    section = section_of(document, INPUTS)
    if section is None:
        raise TaskstateError(
            f"there is no section {INPUTS}", help=f"add `## 2. {INPUTS}` to the state file", code="section-missing"
        )
    _require_closed(document, section, upstream)
    new = chain_quotes.render_chain_input(upstream, now, config)
    present = [each for each in inputs_of(document) if each.id.casefold() == upstream.id.casefold()]
    if present:
        stale = [each for each in present if not is_current(document, each, upstream, config)]
        edits = [_block(document, each.span, _updated_input(document, each, upstream, new)) for each in stale]
    else:
        edits = [_added(document, section, upstream, new)]
    after = apply(document.text, edits)
    _require_result(document, after, upstream, count=0 if present else 1)
    return after


def _is_filled(kind: Kind, body: str) -> bool:
    body = body.strip()
    return bool(body) and not kind.is_placeholder(body) and not escaping.is_blank(body)


def _verbatim(document: Document, span: Span) -> str:
    text = with_newlines(span.of(document.text), "\n").rstrip(" \t\n")
    blank = re.compile(_BLANK_LINES).match(text)
    return text[blank.end() :] if blank else text


def _without_blanks(output: str) -> str:
    """Return an output whose blank lines outside code fences are empty.

    The formatter does the same in both files, and must not change what the hash covers.
    """
    if not re.compile(_BLANKS).search(output):
        return output
    fences = parse(output).blocks_in(Span(0, len(output)), "fence")
    blanks = [Edit(*match.span(), "") for match in re.compile(_BLANKS).finditer(output)]
    return apply(
        output, [edit for edit in blanks if not any(each.span.start < edit.start < each.span.end for each in fences)]
    )


def _input_heading(title: str) -> dict[str, str] | None:
    """Return the task id and title in the heading of a Chain Input, or None where it is another heading."""
    section = document_kinds.built_in("task").section(INPUTS)
    matches = (spec.match(title) for spec in (section.subsections if section else ()))
    return next((dict(groups) for groups in matches if groups and "task_id" in groups), None)


def _updated_input(document: Document, present: ChainInput, upstream: Upstream, new: RenderedInput) -> str:
    """Return the text that replaces a stale input: comment, quote, and the lines that somebody added to the old one."""
    added = chain_quotes.added_lines(present.quote.of(document.text), present, upstream)
    return "\n\n".join(filter(None, (new.comment, new.quote, added)))


def _added(document: Document, section: Section, upstream: Upstream, rendered: RenderedInput) -> Edit:
    """Return the edit that adds an input: below its own empty heading, in place of a placeholder, or in its order."""
    heading, comment, quote = rendered
    kind = document_kinds.kind_of(document)
    for named in named_inputs(document):
        if named.id.casefold() == upstream.id.casefold() and not named.is_filled:
            content = _content(document, named.section.body)
            return _block(document, content, f"{comment}\n\n{quote}")
    content = _content(document, section.body)
    whole = f"{heading}\n\n{comment}\n\n{quote}"
    if _is_empty(kind, content.of(document.text)):
        return _block(document, content, whole)
    after = (each.section for each in named_inputs(document) if names.id_key(each.id) > names.id_key(upstream.id))
    following = next(after, None)
    if following:
        return Edit(following.span.start, following.span.start, with_newlines(f"{whole}\n\n", document.newline))
    return _block(document, Span(content.end, content.end), whole)


def _is_empty(kind: Kind, content: str) -> bool:
    return content in _NOTHING or kind.is_placeholder(content)


def _content(document: Document, span: Span) -> Span:
    """Return `span` without the blank lines around it, and without a thematic break (`---`) at its end.

    An empty result is placed at the end of the line before the span.
    """
    text = span.of(document.text)
    content = text.rstrip(" \t\r\n")
    last_line = max(content.rfind("\n"), content.rfind("\r")) + 1
    before = content[:last_line].rstrip(" \t\r\n")
    if compiled(_RULE).fullmatch(content, last_line) and (
        not before or len(re.compile(_LINE_END).findall(content, len(before), last_line)) > 1
    ):
        content = before
    if not content:
        start = span.start - len(_line_end_before(document.text, span.start))
        return Span(start, start)
    end = len(content) + len(text[len(content) :]) - len(text[len(content) :].lstrip(" \t"))
    return Span(span.start + len(content) - len(content.lstrip(" \t\r\n")), span.start + end)


def _line_end_before(text: str, at: int) -> str:
    if text.endswith("\r\n", 0, at):
        return "\r\n"
    return text[at - 1 : at] if text[at - 1 : at] in {"\r", "\n"} else ""


def _block(document: Document, span: Span, new: str) -> Edit:
    """Return the edit that replaces `span` by `new`, with a blank line before and after it."""
    text, nl = document.text, document.newline
    before, after = text[: span.start], text[span.end :]
    stripped = before.rstrip(" \t")
    last = _line_end_before(stripped, len(stripped))
    if not last:
        gap_above = nl * 2 if stripped else ""
    else:
        rest = stripped[: -len(last)].rstrip(" \t")
        gap_above = "" if not rest or rest[-1] in "\r\n" else nl
    line_end = re.compile(_LINE_END).match(after)
    next_line = after[line_end.end() :] if line_end else after
    blank = not next_line.strip(" \t") or bool(re.compile(_LINE_END).match(next_line.lstrip(" \t")))
    return Edit(span.start, span.end, gap_above + with_newlines(new, nl) + ("" if blank else nl))


def _require_closed(document: Document, section: Section, upstream: Upstream) -> None:
    """Refuse a text in which an unclosed fence or comment contains the heading that should end the Chain Inputs.

    Raises:
        TaskstateError: code "unsafe".
    """
    kind = document_kinds.kind_of(document)
    present = {document_kinds.section_key(each.title) for each in document.sections if each.level == SECTION_LEVEL}
    missing = {document_kinds.section_key(each.name) for each in kind.sections} - present
    blocks = [block for block in document.blocks if section.body.start <= block.span.start < section.body.end]
    for block in blocks if missing else ():
        text = with_newlines(block.span.of(document.text), "\n")
        titles = (match[1] for match in re.finditer(_SECTION_HEADING, text))
        name = next((title for title in titles if document_kinds.section_key(title) in missing), "")
        if name:
            line = document.position(block.span.start).line + 1
            raise TaskstateError(
                f"the output of task {upstream.id} cannot be pulled: what begins in line {line} never closes before "
                f"the heading {name!r}",
                help="run `taskstate lint` and close the fence or comment that it names",
                code="unsafe",
            )


def _require_result(before: Document, text: str, upstream: Upstream, *, count: int) -> None:
    """Check that `text` holds the input, and that all other sections read as they did in `before`.

    Raises:
        TaskstateError: code "unsafe".
    """
    after = before.with_text(text)
    key = upstream.id.casefold()
    present = [each for each in inputs_of(after) if each.id.casefold() == key]
    is_right = bool(present) and all(each.is_of(upstream) for each in present)
    is_right = is_right and len(inputs_of(after)) == len(inputs_of(before)) + count
    if not is_right or _other_sections(after) != _other_sections(before):
        raise TaskstateError(
            f"the output of task {upstream.id} cannot be pulled: something in {INPUTS} never closes",
            help="run `taskstate lint` and fix the fence or comment that it names",
            code="unsafe",
        )


def _other_sections(document: Document) -> list[str]:
    """Return the text of all sections but the Chain Inputs."""
    inputs = section_of(document, INPUTS)
    sections = (each for each in document.sections if each.level == SECTION_LEVEL and each is not inputs)
    return [each.span.of(document.text) for each in sections]
