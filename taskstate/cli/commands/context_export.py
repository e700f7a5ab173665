"""`taskstate context export` and `context budget`: what each role reads, and how many tokens that saves."""

from __future__ import annotations

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation
from taskstate.cli.terminal import write_bytes
from taskstate.storage.paths import real
from taskstate.syntax.spans import printable_json


def configure(parser: Parser) -> None:
    """Declare the actions."""
    export = parser.add_action(
        "export", "print the context for a role", "Print the context that a role needs, as canonical JSON."
    )
    export.add_argument("--role", required=True, metavar="R", help="role to export for")
    export.add_argument("--output", metavar="FILE", help="write to a file instead of standard output")
    export.add_argument("--force", action="store_true", help="with --output: replace a file that is no export")
    export.add_common(run=run_export)
    budget = parser.add_action(
        "budget",
        "count tokens",
        "Count the tokens of a task by part and role: as a whole, as an export, and as a brief.",
    )
    budget.add_common(run=run_budget)


def run_export(invocation: Invocation) -> int:
    """Print or write the export of a role."""
    from taskstate.context.export import export, save
    from taskstate.context.manifest import refresh
    from taskstate.context.preconditions import require_exportable
    from taskstate.context.view import broken_notes
    from taskstate.model.canonical_json import canonical_json, sha256

    workspace, role = invocation.workspace, invocation.args.role
    loaded = invocation.load_task()
    require_exportable(loaded)
    exported = export(workspace.config, loaded.state, role)
    text = canonical_json(exported)
    warnings = broken_notes(loaded)
    invocation.print_notes(warnings)
    output = invocation.args.output
    if output is not None and _is_its_place(invocation, loaded.state.id):
        refresh(workspace, loaded.state.id, role, text)
    elif output is not None:
        save(workspace, real(output), text, force=invocation.args.force)
    elif not invocation.as_json:
        _write(text)
        return 0
    shape = {"path": loaded.relative, "role": role, "sha256": sha256(text), "output": output, "export": exported}
    shape["warnings"] = list(warnings)
    return invocation.print_result(shape, f"{output}: what the {role} needs of task {loaded.state.id}")


def _is_its_place(invocation: Invocation, task_id: str) -> bool:
    """Return whether --output is the file among the artifacts that holds this export, which the manifest lists."""
    from taskstate.context.export import export_path

    return real(invocation.args.output) == invocation.workspace.state_root / export_path(task_id, invocation.args.role)


def _write(text: str) -> None:
    """Write JSON as bytes, the same on every system; control characters are escaped."""
    write_bytes(printable_json(text).encode())


def run_budget(invocation: Invocation) -> int:
    """Count the tokens of a task."""
    from taskstate.context.preconditions import require_exportable
    from taskstate.workflow.token_budget import budget, shape, table

    loaded = invocation.load_task()
    require_exportable(loaded)
    counts = budget(invocation.workspace, loaded)
    return invocation.print_result(shape(counts), table(counts))
