"""Says how this taskstate was installed: where its command is, and which commands install more of it, or it elsewhere.

Advice that does not fit the installation fails: `pip install` changes nothing in the environment of `uv tool` or pipx.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys

from taskstate.storage import folders
from taskstate.typed import NamedTuple
from taskstate.version import VERSION

NAME = "taskstate"
# What each extra has to bring so that it counts as installed.
_MODULES = {
    "fleet": ("duckdb", "distributed", "fsspec"),
    "lsp": ("pygls",),
    "mcp": ("mcp", "mcp_types"),
    "page": ("starlette", "uvicorn", "nh3"),
    "pre-commit": ("pre_commit",),
    "query": ("duckdb",),
    "tokens": ("splintr",),
}
# What the installers leave in the environment that they make for a tool, and the command that makes it anew.
_TOOLS = {"uv-receipt.toml": "uv tool install", "pipx_metadata.json": "pipx install"}
# An address that stands in files of the team: no name with a password, nothing that a shell or YAML reads otherwise.
_ADDRESS = re.compile(
    r"(?:git\+)?(?:https?|ssh)://(?:git@)?(?![^/]*@)[\w.~:/%+-]+(?:@[\w./-]+)?(?:#subdirectory=[\w./-]+)?"
)


class Source(NamedTuple):
    """From where something was installed, with its commit; empty for an index. An editable one is a folder."""

    address: str
    is_editable: bool = False

    @property
    def folder(self) -> str:
        """The path of a folder's address."""
        from urllib.parse import unquote, urlsplit

        return unquote(urlsplit(self.address).path)

    def requirement(self, name: str) -> str:
        """Return what an installer is told so that it takes a package from here."""
        return f"{name} @ {self.address}" if self.address else name


def program(name: str = NAME, path: str | None = None) -> str:
    """Return where a program is on the PATH, or on another one; empty where it is not. A path is looked at itself."""
    return shutil.which(name, path=path) or ""


def command() -> str:
    """Return where the command of this installation is, else the one of the PATH; empty if there is none."""
    return program(_beside(NAME)) or program()


def lacks(extra: str) -> bool:
    """Return whether the packages of an extra are missing here."""
    from importlib.util import find_spec

    return any(find_spec(module) is None for module in _MODULES[extra])


def adding(extra: str) -> str:
    """Return the command that adds an extra to this installation."""
    tool = _tool()
    if not tool:
        return f"{_pip_install()} '{NAME}[{extra}]'"
    # A tool is made anew, from where it came: what it has of other extras would be gone.
    extras = f"[{','.join(each for each in _MODULES if each == extra or not lacks(each))}]"
    source, flags = _source(), " --force" if tool.startswith("pipx") else ""
    if source.is_editable:
        return f"{tool}{flags} --editable {shlex.quote(source.folder + extras)}"
    return f"{tool}{flags} {shlex.quote(source.requirement(NAME + extras))}"


def adding_package(name: str) -> str:
    """Return the command that adds another package to this Python's environment."""
    return f"{_pip_install()} {name}"


def adding_manager() -> str:
    """Return the command that installs pre-commit, the manager of commit hooks."""
    tool = _tool()
    return f"{tool} pre-commit" if tool else adding("pre-commit")


def hook_manager() -> str:
    """Return the command that has git run the commit hooks; before it, where there is no manager, what installs one."""
    for manager in ("pre-commit", "prek"):
        if program(manager):
            return f"{manager} install"
    own = _beside("pre-commit")
    if program(own):
        return f"{shlex.quote(own)} install"
    is_on_the_path = _tool() or _pip_install() == "pip install"
    return f"{adding_manager()} && {'pre-commit' if is_on_the_path else shlex.quote(own)} install"


def of_manager(name: str) -> str:
    """Return how a manager of commit hooks is called: by its path where only this environment has it."""
    own = _beside(name)
    return shlex.quote(own) if program(own) and not program(name) else name


def elsewhere(*, by_pip: bool = False) -> str:
    """Return the command that installs the same taskstate on another machine; empty where this one cannot tell.

    It is that of the installer which was used here, or `by_pip`, as in CI, where there may be no other.
    """
    source = _source()
    if source.address and not _ADDRESS.fullmatch(source.address):  # a folder or a wheel of this machine
        return ""
    wanted = source.requirement(NAME) if source.address else f"{NAME}=={VERSION}"
    return f'{(not by_pip and _tool()) or "pip install"} "{wanted}"'


def _beside(name: str) -> str:
    """Return where a program of this Python's environment is, if it is there."""
    return os.path.join(os.path.dirname(sys.executable), name)


def _tool() -> str:
    """Return the command that installs a tool in an environment of its own, where this is one; else nothing."""
    return next((how for mark, how in _TOOLS.items() if folders.exists(os.path.join(sys.prefix, mark))), "")


def _pip_install() -> str:
    """Return the command that installs packages into this Python's environment."""
    from importlib.util import find_spec

    if program("pip") and program("pip") == program(_beside("pip")):
        return "pip install"
    python = shlex.quote(sys.executable)
    return f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"


def _source() -> Source:
    """Return from where this was installed; nothing for an index."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        values = json.loads(distribution(NAME).read_text("direct_url.json") or "{}")
        url, vcs = str(values.get("url") or ""), values.get("vcs_info", {})
        at = f"{vcs.get('vcs')}+{url}@{vcs['commit_id']}" if vcs.get("commit_id") else url
        is_editable = values.get("dir_info", {}).get("editable") is True
    except (PackageNotFoundError, ValueError, AttributeError):
        return Source("")
    below = f"#subdirectory={values['subdirectory']}" if values.get("subdirectory") else ""
    return Source(f"{at}{below}", is_editable=is_editable)
