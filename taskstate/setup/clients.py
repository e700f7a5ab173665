"""The table of formats: the configuration files of each client, its names of the events, and how it is answered.

The rest of the package knows only our own events. `{text}` in an answer stands for what is said. Where the format of a
client is uncertain, `docs/agents/` says so.
"""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SESSION_START, COMPACTION, SUBAGENT_START = "session-start", "compaction", "subagent-start"
BEFORE_EDIT, BEFORE_COMMIT, AFTER_EDIT, STOP = "before-edit", "before-commit", "after-edit", "stop"
PROMPT, BEFORE_COMPACTION, INTERRUPT, SESSION_END = "prompt", "before-compaction", "interrupt", "session-end"
OF_AUTOSAVE = (PROMPT, BEFORE_COMPACTION, INTERRUPT, SESSION_END)  # configured with a person's consent alone
EVENTS = (SESSION_START, COMPACTION, SUBAGENT_START, BEFORE_EDIT, BEFORE_COMMIT, AFTER_EDIT, STOP, *OF_AUTOSAVE)

_TEXT = "{text}"
_SECONDS = 20  # far more than a hook takes: a slow disk must not switch it off


class Hook(NamedTuple):
    """How a client calls an event, what restricts the call (a matcher, empty for none), and how it is answered.

    `timeout` is its own where that of the client does not fit; `adds` is how a model is told something by the way.
    """

    name: str
    matcher: str = ""
    answer: Mapping[str, Any] = {}
    timeout: int = 0
    adds: Mapping[str, Any] = {}


class Leave(NamedTuple):
    """Where a client keeps what runs without a person: a file, a list in it, how it writes a command and our server.

    `more` stands behind a command that may have further arguments. Without `command` the server alone is allowed.
    """

    file: str
    path: tuple[str, ...]
    command: str
    server: str
    more: str = ""


class Client(NamedTuple):
    """A client's formats: its hooks by our event, and the files in which they and its MCP servers are configured.

    In a `flat` list of hooks the matcher stands beside the command; else a group with a matcher holds a list of
    handlers. `timeout` is in the unit of the client. `page` is what its model reads, and `names` the setting with the
    names of such pages, where it has one. Without `leave` nothing has to be allowed. `agents` is the folder in which
    a repository describes sub-agents, `title` its name for people, and `server` what it alone has in the entry of our
    server. `asks` says what a person does before it reads any of this.
    """

    name: str
    title: str
    hooks: Mapping[str, Hook]
    hook_file: str
    mcp_file: str
    page: str
    leave: Leave | None = None
    names: tuple[str, ...] = ()
    timeout: int = _SECONDS
    flat: bool = False
    agents: str = ""
    server: Mapping[str, Any] = {}
    asks: str = ""


def _context(name: str) -> Mapping[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": _TEXT}}


def _denied(name: str) -> Mapping[str, Any]:
    decision = {"permissionDecision": "deny", "permissionDecisionReason": _TEXT}
    return {"hookSpecificOutput": {"hookEventName": name, **decision}}


_BLOCK = {"decision": "block", "reason": _TEXT}
_DENY = {"decision": "deny", "reason": _TEXT}
_NOTICE = {"systemMessage": _TEXT}  # it shows the text to the person, and lets the agent go on
_REFUSED = {"permission": "deny", "user_message": _TEXT, "agent_message": _TEXT}

CLIENTS: Mapping[str, Client] = {
    "claude": Client(
        "claude",
        "Claude Code",
        {
            SESSION_START: Hook("SessionStart", "startup|resume|clear|fork", _context("SessionStart")),
            COMPACTION: Hook("SessionStart", "compact", _context("SessionStart")),
            SUBAGENT_START: Hook("SubagentStart", "", _context("SubagentStart")),
            BEFORE_EDIT: Hook("PreToolUse", "Edit|Write", _denied("PreToolUse")),
            BEFORE_COMMIT: Hook("PreToolUse", "Bash", _denied("PreToolUse"), adds=_context("PreToolUse")),
            AFTER_EDIT: Hook("PostToolUse", "Edit|Write", _context("PostToolUse")),
            STOP: Hook("Stop", "", _BLOCK),
            PROMPT: Hook("UserPromptSubmit", "", _context("UserPromptSubmit")),
            BEFORE_COMPACTION: Hook("PreCompact"),
            SESSION_END: Hook("SessionEnd", timeout=5),  # that much it waits then, without it 1.5 seconds
        },
        hook_file=".claude/settings.json",
        mcp_file=".mcp.json",
        page="CLAUDE.md",
        leave=Leave(".claude/settings.json", ("permissions", "allow"), "Bash(taskstate {0})", "mcp__taskstate", ":*"),
        agents=".claude/agents",
    ),
    "codex": Client(
        "codex",
        "Codex",
        {
            SESSION_START: Hook("SessionStart", "startup|resume|clear", _context("SessionStart")),
            COMPACTION: Hook("SessionStart", "compact", _context("SessionStart")),
            SUBAGENT_START: Hook("SubagentStart", "", _context("SubagentStart")),
            BEFORE_EDIT: Hook("PreToolUse", "apply_patch|Edit|Write", _denied("PreToolUse")),
            BEFORE_COMMIT: Hook("PreToolUse", "Bash", _denied("PreToolUse"), adds=_context("PreToolUse")),
            AFTER_EDIT: Hook("PostToolUse", "apply_patch|Edit|Write", _context("PostToolUse")),
            STOP: Hook("Stop", "", _BLOCK),
            PROMPT: Hook("UserPromptSubmit", "", _context("UserPromptSubmit")),
            BEFORE_COMPACTION: Hook("PreCompact"),
            INTERRUPT: Hook("Interrupt", timeout=3),  # no more is given
            SESSION_END: Hook("SessionEnd", timeout=3),
        },
        hook_file=".codex/hooks.json",
        mcp_file=".codex/config.toml",
        page="AGENTS.md",
        # Its sandbox runs commands without asking; a rule would run them outside of it.
        server={"env_vars": ["TASKSTATE_ACTOR", "TASKSTATE_TASK"]},  # it passes on nothing else of the kind
        asks="Codex skips all of this until it trusts the folder (`codex exec --trust`) and the hooks (`/hooks` in it)",
    ),
    "cursor": Client(
        "cursor",
        "Cursor",
        {
            SESSION_START: Hook("sessionStart", "", {"additional_context": _TEXT}),
            BEFORE_EDIT: Hook("preToolUse", "Write|Edit|StrReplace", _REFUSED),
            BEFORE_COMMIT: Hook("beforeShellExecution", "", _REFUSED),
            AFTER_EDIT: Hook("postToolUse", "Write|Edit|StrReplace", {"additional_context": _TEXT}),
            STOP: Hook("stop", "", {"followup_message": _TEXT}),
        },
        hook_file=".cursor/hooks.json",
        mcp_file=".cursor/mcp.json",
        page="AGENTS.md",
        leave=Leave(".cursor/cli.json", ("permissions", "allow"), "Shell(taskstate:{0})", "Mcp(taskstate:*)", "*"),
        flat=True,
    ),
    "gemini": Client(
        "gemini",
        "Gemini CLI",
        {
            SESSION_START: Hook("SessionStart", "", _context("SessionStart")),
            BEFORE_EDIT: Hook("BeforeTool", "write_file|replace", _DENY),
            BEFORE_COMMIT: Hook("BeforeTool", "run_shell_command", _DENY),
            AFTER_EDIT: Hook("AfterTool", "write_file|replace", _context("AfterTool")),
            STOP: Hook("AfterAgent", "", _DENY),
            PROMPT: Hook("BeforeAgent", "", _context("BeforeAgent")),
            SESSION_END: Hook("SessionEnd"),
        },
        hook_file=".gemini/settings.json",
        mcp_file=".gemini/settings.json",
        page="GEMINI.md",
        # A rule for one command of its shell has it refuse every other one, also with `--yolo`.
        leave=Leave(".gemini/settings.json", ("tools", "allowed"), "", "mcp_taskstate_*"),
        names=("context", "fileName"),
        asks="Gemini CLI reads none of this until it trusts the folder: start `gemini` here once",
        timeout=_SECONDS * 1000,
    ),
}
DEFAULT = "claude"
GENERIC = "generic"  # a client without hooks: it reads AGENTS.md alone


def answer(
    client: str, event: str, text: str, *, to_person: bool = False, by_the_way: bool = False
) -> Mapping[str, Any]:
    """Return what a client is answered: nothing where there is nothing to say, or it has no such event."""
    hook = CLIENTS[client].hooks.get(event)
    if hook is None or not text:
        return {}
    shape = _NOTICE if to_person else (by_the_way and hook.adds) or hook.answer
    filled: Mapping[str, Any] = _filled(shape, text)
    return filled


def _filled(shape: Any, text: str) -> Any:  # noqa: ANN401 - JSON
    if isinstance(shape, dict):
        return {key: _filled(value, text) for key, value in shape.items()}
    return text if shape == _TEXT else shape


def plain_hook(event: str, client: str) -> str:
    """Return the command that answers a hook, as `init` wrote it before it looked for the program."""
    return f"taskstate hook {event} --agent {client}"


def hook_command(event: str, client: str) -> str:
    """Return the command for a client's configuration: neutral and silent where taskstate is missing.

    A client warns of a hook that fails, or takes it for a refusal: Gemini CLI blocks each edit and each stop at another
    status than 0 and 1. So a program that cannot be started counts as missing. The words mean the same in each shell.
    """
    return f"command -v taskstate >/dev/null 2>&1 || exit 0; {plain_hook(event, client)} || exit 0"


def hooks_of(client: Client, *, autosave: bool = False) -> dict[str, list[dict[str, Any]]]:
    """Return the entries for a client's configuration of hooks, by its own names of the events."""
    entries: dict[str, list[dict[str, Any]]] = {}
    for event, hook in client.hooks.items():
        if event in OF_AUTOSAVE and not autosave:
            continue
        handler = {"command": hook_command(event, client.name), "timeout": hook.timeout or client.timeout}
        matcher = {"matcher": hook.matcher} if hook.matcher else {}
        entry = handler | matcher if client.flat else matcher | {"hooks": [{"type": "command", **handler}]}
        entries.setdefault(hook.name, []).append(entry)
    return entries
