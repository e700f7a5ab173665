"""Only `storage/` touches the disk, only `storage.git.process` starts git, only `storage.programs` other programs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from scripts.import_graph import nodes, trees

if TYPE_CHECKING:
    from collections.abc import Iterable

# Calls of the system that open, look at, list, change or delete something on the disk by its path.
OS = {
    *("open", "stat", "lstat", "access", "listdir", "scandir", "walk", "fwalk", "readlink", "statvfs", "utime"),
    *(
        "mkdir",
        "makedirs",
        "rmdir",
        "removedirs",
        "unlink",
        "remove",
        "rename",
        "renames",
        "replace",
        "link",
        "symlink",
    ),
    *("chmod", "lchmod", "chown", "lchown", "truncate", "mkfifo", "mknod", "chdir", "fchdir"),
}
OS_PATH = {
    "exists",
    "lexists",
    "isfile",
    "isdir",
    "islink",
    "ismount",
    "getsize",
    "getmtime",
    "samefile",
    "sameopenfile",
}
PATHLIB = {
    *("open", "read_text", "write_text", "read_bytes", "write_bytes", "touch", "chmod", "lchmod", "stat", "lstat"),
    *("unlink", "rmdir", "mkdir", "symlink_to", "hardlink_to", "readlink", "rename", "iterdir", "glob", "rglob"),
    *("exists", "is_file", "is_dir", "is_symlink", "is_fifo", "is_socket", "is_mount", "samefile", "owner"),
}
OTHERS = {"tempfile", "shutil", "fileinput", "fcntl", "mmap", "linecache", "zipfile", "tarfile", "sqlite3"}
STARTS = {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"}
POOLS = {"multiprocessing", "concurrent.futures"}  # of which the threads start nothing
POOL_STARTS = {"get_context", "Process", "Pool", "ProcessPoolExecutor"}
OS_STARTS = {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"}

# What may be done elsewhere than through `storage.folders`, and why.
DISK_EXCEPTIONS = {
    "taskstate.resources": "reads the tool's own files, which no repository holds, before anything else is loaded",
    "taskstate.cli.main": "opens the null device in the place of a closed stream",
    "taskstate.storage.folders": "the one hand: relative to an open folder, through no link",
    "taskstate.storage.installed": "looks for programs on the PATH",
    "taskstate.storage.journal": "looks at the free space of the disk",
    "taskstate.storage.lock": "locks an open descriptor",
    "taskstate.storage.cache": "wraps an open descriptor",
    "taskstate.storage.durable": "wraps an open descriptor",
    "taskstate.storage.temporary": "makes files and folders in the system's place for temporary ones",
    "taskstate.storage.file_state": "looks for files that match a pattern, below the repository's root",
    "taskstate.storage.git.client": "reads git's own folder, where git itself says it is",
    "taskstate.storage.git.discovery": "reads git's own folder, where git itself says it is",
    "taskstate.storage.git.history": "looks at git's own folder",
    "taskstate.storage.git.index": "copies git's index into a temporary folder",
    "taskstate.storage.git.process": "reads git's own folder, and says that the working folder is gone",
    "taskstate.storage.git.settings": "reads git's configuration, where git itself says it is",
    "taskstate.storage.git.worktree": "copies git's index into a temporary folder, and looks at git's own files",
    "taskstate.storage.git.objects": "writes a temporary repository",
}
STARTS_GIT, STARTS_PROGRAMS = "taskstate.storage.git.process", "taskstate.storage.programs"


def touches(of: Iterable[ast.AST]) -> list[str]:
    """Return the calls in a module that touch the disk by a path, as text."""
    return [ast.unparse(node) for node in of if isinstance(node, ast.Call) and _touches(node)]


def _touches(call: ast.Call) -> bool:
    name = call.func
    if isinstance(name, ast.Name):
        return name.id == "open"
    if not isinstance(name, ast.Attribute):
        return False
    owner = ast.unparse(name.value)
    if owner in {"os", "os.path", "io"} | OTHERS:
        return name.attr in (OS if owner == "os" else OS_PATH if owner == "os.path" else {name.attr})
    if owner in {"folders", "file_state", "git", "git_log", "git_index"}:
        return False
    # `str.replace` takes two arguments, `Path.replace` one; a query named `exists` takes a path, `Path.exists` nothing.
    positional = len(call.args)
    by_form = {"replace": positional == 1 and not call.keywords, "exists": positional == 0}
    return by_form.get(name.attr, name.attr in PATHLIB)


def starts(of: Iterable[ast.AST]) -> list[str]:
    """Return the calls in a module that start a program."""
    found = []
    for node in of:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner, name = ast.unparse(node.func.value), node.func.attr
            if (owner == "subprocess" and name in STARTS) or (
                owner == "os" and (name in OS_STARTS or name.startswith(("exec", "spawn")))
            ):
                found.append(ast.unparse(node))
        if isinstance(node, ast.ImportFrom) and node.module in {"os", "subprocess", "shutil", "tempfile", "pathlib"}:
            names = {alias.name for alias in node.names} & (OS | STARTS | OS_STARTS)
            found += [f"from {node.module} import {name}" for name in names]  # it could not be told from others
        if isinstance(node, ast.ImportFrom) and node.module in POOLS:
            found += [f"from {node.module} import {each.name}" for each in node.names if each.name in POOL_STARTS]
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith(tuple(f"{name}." for name in POOLS)):
            found.append(ast.unparse(node))
    return found


def test_only_storage_touches_the_disk() -> None:
    """Nothing opens, looks at, lists, changes or deletes a file but through `storage`, with the exceptions above."""
    wrong = {name: found for name, each in nodes().items() if (found := touches(each)) and name not in DISK_EXCEPTIONS}
    assert wrong == {}, "use storage.files or storage.folders"


def test_no_exception_is_left_over() -> None:
    """An exception that nothing needs any more would let something in unseen."""
    unused = {name for name in DISK_EXCEPTIONS if not touches(nodes()[name])}
    assert unused == set()


@pytest.mark.slow
def test_only_one_module_starts_git_and_one_all_else() -> None:
    """No other module starts a program, in whatever way Python has for that."""
    assert {name for name, each in nodes().items() if starts(each)} == {STARTS_GIT, STARTS_PROGRAMS}
    commands = ast.unparse(trees()[STARTS_GIT])
    assert "('git', *_FLAGS, *flags, *args)" in commands, "every start of git has the flags"
    assert commands.count("subprocess.run(") + commands.count("subprocess.Popen(") == 1
    assert "'git'" not in ast.unparse(trees()[STARTS_PROGRAMS])


@pytest.mark.parametrize(
    "code",
    [
        *("open('x')", "path.open()", "path.read_text()", "os.open('x', 0)", "os.unlink('x')", "path.unlink()"),
        *("path.replace(other)", "path.rename(other)", "os.replace('a', 'b')", "path.exists()", "path.iterdir()"),
        *(
            "os.scandir('x')",
            "os.walk('x')",
            "shutil.rmtree('x')",
            "tempfile.mkdtemp()",
            "path.chmod(0)",
        ),
        *(
            "os.path.isfile('x')",
            "(root / name).mkdir()",
            "Path('x').write_bytes(b'')",
            "path.glob('*')",
            "io.open('x')",
        ),
    ],
)
def test_what_touches_the_disk_is_noticed(code: str) -> None:
    """Each way to reach a file by its path is one that the test knows."""
    assert touches(ast.walk(ast.parse(code))) == [code]


@pytest.mark.parametrize("code", ["subprocess.Popen(['x'])", "os.system('x')", "os.execv('x', [])", "os.popen('x')"])
def test_what_starts_a_program_is_noticed(code: str) -> None:
    """Each way to start a program is one that the test knows."""
    assert starts(ast.walk(ast.parse(code))) == [code]
