"""Finds a template, the repository's own before the built-in one, and renders it.

A template from the repository is rendered in a process of its own with a limit on time and memory: Jinja's sandbox
alone does not stop an endless loop.
"""

from __future__ import annotations

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.messages import decoded
from taskstate.model.document_kinds import kind_of
from taskstate.storage import files, programs
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Workspace


FOLDER = "templates"  # in the state folder
SECTION, SUBSECTION = 2, 3  # levels of headings


def source_of(workspace: Workspace, name: str) -> tuple[str, str]:
    """Return the path and the text of the template `name`: the repository's own, or the built-in one.

    Raises:
        TaskstateError: the repository's own is not a text file.
    """
    own = workspace.state_root / FOLDER / name
    if files.size(own) is None:
        return name, resources.text(f"templates/{name}")
    where = workspace.relative(own)
    return where, with_newlines(decoded(files.read(own), f"the template {where}"), "\n")


def fill(workspace: Workspace, name: str, parts: Mapping[str, object]) -> str:
    """Render the template `name` with `parts`, its variables.

    Raises:
        TaskstateError: code "template": the template is wrong.
    """
    where, source = source_of(workspace, name)
    # A process costs a tenth of a second: only a template from the repository, which may be hostile, gets one.
    fill = render if where == name else render_in_subprocess
    try:
        return fill(source, parts)
    except ValueError as error:
        raise TaskstateError(f"the template {where} is wrong: {error}", help="correct it", code="template") from error


def completed(workspace: Workspace, name: str, text: str) -> str:
    """Return a state file made from the template `name` with every part that its kind requires.

    A part that the project's own declaration of the kind requires is added with the placeholder; only a repository's
    own template has to have it.

    Raises:
        TaskstateError: code "template": the repository's own template lacks a part; the message names it.
    """
    from taskstate.syntax.document import parse

    document = parse(text, workspace.kinds)
    missing = [*_missing_parts(document)]
    where = workspace.state_root / FOLDER / name
    if missing and files.size(where) is not None:
        shown = ", ".join(f"`{each.part}`" for each in missing)
        message = f"the template {workspace.relative(where)} lacks {shown}"
        raise TaskstateError(message, help="add what is missing, or delete the template", code="template")
    return apply(text, (Edit(each.at, each.at, each.text) for each in missing))


class _Missing(NamedTuple):
    """A part that is missing, and the text that is it where it belongs."""

    part: str
    at: int
    text: str


def _missing_parts(document: Document) -> Iterator[_Missing]:
    kind = kind_of(document)
    found = {
        spec.key: each for each in document.sections if each.level == SECTION and (spec := kind.section(each.title))
    }
    for number, spec in enumerate(kind.sections):
        section = found.get(spec.key)
        behind = (found[each.key].span.start for each in kind.sections[number + 1 :] if each.key in found)
        if section is None:
            parts = "".join(f"\n### {each.name}\n\n{kind.placeholder}\n" for each in spec.subsections if each.required)
            at = next(behind, len(document.text))
            if spec.required:
                own = "" if parts else f"\n{kind.placeholder}\n"
                yield _Missing(spec.heading, at, f"\n{spec.heading}\n{own}{parts}\n")
            continue
        titles = [child.title for child in document.children(section, SUBSECTION)]
        for part in spec.subsections:
            if part.required and all(part.match(title) is None for title in titles):
                yield _Missing(f"### {part.name}", section.span.end, f"\n### {part.name}\n\n{kind.placeholder}\n\n")
        needs_fence = spec.fence is not None and spec.fence.required
        if needs_fence and not any(block.text.strip() == "json" for block in document.blocks_in(section.span, "fence")):
            yield _Missing(f"{spec.heading} with a json fence", section.span.end, "")


TIMEOUT_SECONDS = 3
MAX_MEMORY = 512 * 1024**2  # bytes
MAX_CHARACTERS = 1024**2  # characters of the result
_WRONG = "wrong"
# The program of the process: -I keeps the current folder and PYTHONPATH out of its module path, which is set to ours.
_PROGRAM = "import sys; sys.path[:] = {path!r}; from taskstate.workspace.templates import serve; serve()"


def render(source: str, parts: Mapping[str, object]) -> str:
    """Render a template in this process.

    Raises:
        ValueError: the template is wrong, or its output is too long.
    """
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # Autoescape is for HTML. This is Markdown, and every text from outside has been escaped by `syntax.escaping`.
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True, autoescape=False
    )
    pieces, length = list[str](), 0
    try:
        for piece in environment.from_string(source).generate(parts):
            pieces.append(piece)
            length += len(piece)
            if length > MAX_CHARACTERS:
                raise ValueError(f"it gives more than {MAX_CHARACTERS} characters")
    except (MemoryError, RecursionError) as error:
        raise ValueError("it takes more memory than there is for it") from error
    except (TemplateError, ArithmeticError, LookupError, TypeError) as error:
        raise ValueError(str(error)) from error
    return "".join(pieces)


def render_in_subprocess(source: str, parts: Mapping[str, object]) -> str:
    """Render a template in another process, which is killed if it takes too long.

    Raises:
        ValueError: the template is wrong, or takes too much time or memory.
        TaskstateError: code "template": the process cannot be started.
    """
    import pickle
    import sys

    command = (sys.executable or "python3", "-I", "-c", _PROGRAM.format(path=sys.path))
    try:
        done = programs.run(command, stdin=pickle.dumps((source, dict(parts))), timeout=TIMEOUT_SECONDS)
    except TimeoutError as error:
        raise ValueError(f"it was not filled in after {TIMEOUT_SECONDS} seconds") from error
    except OSError as error:
        message = f"a template of the repository cannot be filled in: {error.strerror}"
        raise TaskstateError(message, help="remove it from the state folder's templates", code="template") from error
    if done.returncode:
        raise ValueError("it takes more time or memory than there is for it")
    status, _, text = done.stdout.decode("utf-8", "surrogatepass").partition("\n")
    if status == _WRONG:
        raise ValueError(text)
    return text


def serve() -> None:
    """Render the template on standard input; the output is a line with the status, and the text or the error."""
    import pickle
    import sys

    source, parts = pickle.loads(sys.stdin.buffer.read())  # noqa: S301 - written by `render_in_subprocess`
    _limit_resources()
    try:
        answer = f"filled\n{render(source, parts)}"
    except ValueError as error:
        answer = f"{_WRONG}\n{error}"
    sys.stdout.buffer.write(answer.encode("utf-8", "surrogatepass"))


def _limit_resources() -> None:
    """Limit this process's memory and time, and forbid core dumps, where the system supports it."""
    try:
        import resource
    except ImportError:
        return
    from contextlib import suppress

    for kind, most in (
        (resource.RLIMIT_AS, MAX_MEMORY),
        (resource.RLIMIT_CPU, TIMEOUT_SECONDS + 1),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # a lower limit is set already
            resource.setrlimit(kind, (most, most))
