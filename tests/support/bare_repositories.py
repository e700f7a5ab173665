"""Bare repositories with state files, made by `git fast-import`, and the tricks of strangers with them."""

from __future__ import annotations

import os
import shutil
import subprocess
import zlib
from random import Random
from typing import TYPE_CHECKING, Any

from benchmarks.corpus import state_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

NOW = "2026-02-01T00:00:00Z"
TASKS = ".taskstate/tasks"
_WHO = "A <a@example.invalid> 1767225600 +0000"
_QUIET = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Run git in a folder, and return what it says."""
    done = subprocess.run(["git", *arguments], cwd=folder, input=stdin, env=_QUIET, capture_output=True, check=True)
    return done.stdout.decode().strip()


def tasks(count: int, *, first: int = 1, broken: bool = False) -> dict[str, bytes]:
    """Return state files by path; of `broken` ones each has a finding."""
    found = {}
    for number in range(first, first + count):
        text = state_file(Random(number), number, 3)  # noqa: S311 - the same each time
        text = text.replace("priority: P", "priority: Q") if broken else text
        found[f"{TASKS}/task-{number}-state.md"] = text.encode()
    return found


def commit(root: Path, files: Mapping[str, bytes | tuple[str, bytes]], branch: str = "main") -> str:
    """Commit exactly these files, a mode beside those that are not plain, and return the commit's id."""
    parts = [b"commit refs/heads/%s\ncommitter %s\ndata 1\nx\ndeleteall\n" % (branch.encode(), _WHO.encode())]
    for path, content in files.items():
        mode, data = content if isinstance(content, tuple) else ("100644", content)
        quoted = '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        if mode == "160000":
            parts.append(b"M 160000 %s %s\n" % (data, quoted.encode()))
        else:
            parts.append(b"M %s inline %s\ndata %d\n%s\n" % (mode.encode(), quoted.encode(), len(data), data))
    git(root, "fast-import", "--quiet", "--force", stdin=b"".join(parts))
    return git(root, "rev-parse", branch)


def bare(root: Path, files: Mapping[str, Any], *init: str) -> Path:
    """Return a new bare repository with one commit of these files."""
    git(root.parent, "init", "--quiet", "--bare", "--initial-branch=main", *init, str(root))
    commit(root, files)
    return root


def loose(root: Path, name: str) -> Path:
    """Return the path of an object that a name means, which lies loose in the repository from now on."""
    for pack in root.glob("objects/pack/*.pack"):
        data = pack.read_bytes()
        for path in pack.parent.iterdir():
            path.unlink()
        git(root, "unpack-objects", "-q", stdin=data)
    object_id = git(root, "rev-parse", name)
    return root / "objects" / object_id[:2] / object_id[2:]


def replaced_by_fifo(path: Path) -> None:
    """Put a FIFO into which nobody writes in the place of a file."""
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)


def _wrong_object(root: Path, name: str) -> None:
    path = loose(root, name)
    kind, _, rest = zlib.decompress(path.read_bytes()).partition(b"\0")
    path.chmod(0o600)
    path.write_bytes(zlib.compress(kind + b"\0" + rest.replace(b"a", b"b")))


def _cut_pack(root: Path) -> None:
    git(root, "repack", "-adq")
    pack = next(root.glob("objects/pack/*.pack"))
    pack.chmod(0o600)
    pack.write_bytes(pack.read_bytes()[:200])


def _flipped(root: Path) -> None:
    git(root, "repack", "-adq")
    pack = next(root.glob("objects/pack/*.pack"))
    pack.chmod(0o600)
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 0xFF
    pack.write_bytes(data)


def _lends(root: Path, to: str) -> None:
    (root / "objects" / "info").mkdir(exist_ok=True)
    (root / "objects" / "info" / "alternates").write_text(f"{to}\n", "utf-8")


def _borrows(root: Path, lender: Path) -> None:
    shutil.copytree(root / "objects", lender / "objects", dirs_exist_ok=True)
    shutil.rmtree(root / "objects")
    (root / "objects").mkdir()
    _lends(root, str(lender / "objects"))


def _inside(root: Path) -> None:
    _borrows(root, root.with_name("pool"))


def _outside(root: Path) -> None:
    _borrows(root, root.parent.parent / "secret")


def _too_deep(root: Path) -> None:
    last = root
    for number in range(7):
        lender = root.parent / "pools" / str(number)
        (lender / "objects").mkdir(parents=True)
        _lends(last, str(lender / "objects"))
        last = lender


def _in_a_circle(root: Path) -> None:
    other = root.with_name("circle")
    (other / "objects").mkdir(parents=True)
    _lends(root, str(other / "objects"))
    _lends(other, str(root / "objects"))


def _quoted(root: Path) -> None:
    lender = root.parent.parent / "secret"
    name = f'"\\057{lender}/objects"'.replace("057/", "057")  # which git takes out of its quotes
    _borrows(root, lender)
    (root / "objects" / name).mkdir(parents=True)
    _lends(root, name)


def _behind_a_link(root: Path) -> None:
    inside = root.parent / "pools" / "a" / "b"
    inside.mkdir(parents=True)
    (root.parent / "secret" / "objects").mkdir(parents=True)
    (root / "link").symlink_to(inside)
    _borrows(root, root.parent.parent / "secret")
    _lends(root, f"{root}/link/../../../secret/objects")  # for some versions of git `root/..` is what is left


def _object_link(root: Path) -> None:
    path = loose(root, BLOB)
    target = root.parent.parent / "secret" / path.name
    target.parent.mkdir(exist_ok=True)
    path.rename(target)
    path.symlink_to(target)


def tree(root: Path, entries: Mapping[bytes, tuple[bytes, str]]) -> str:
    """Return the id of a new tree of modes and ids by name, also of such names as git itself makes none of."""
    data = b"".join(mode + b" " + name + b"\0" + bytes.fromhex(id_) for name, (mode, id_) in entries.items())
    return git(root, "hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=data)


def stands_at(root: Path, tree_id: str) -> None:
    """Have HEAD mean a new commit of a tree."""
    data = f"tree {tree_id}\nauthor {_WHO}\ncommitter {_WHO}\n\nx\n".encode()
    made = git(root, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=data)
    (root / "HEAD").write_text(f"{made}\n", "utf-8")


def _leads_out(name: bytes) -> Callable[[Path], None]:
    return lambda root: stands_at(root, tree(root, {name: (b"40000", git(root, "rev-parse", "main^{tree}"))}))


def _endless(root: Path) -> None:
    made = git(root, "rev-parse", "main^{tree}")
    for _ in range(4):  # each holds the one before under many long names
        made = tree(root, {b"%02d" % number + b"x" * 4_000: (b"40000", made) for number in range(20)})
    stands_at(root, made)


def _very_many(root: Path) -> None:
    plain = (b"100644", git(root, "rev-parse", BLOB))
    made = tree(root, {b"task-%d-state.md" % number: plain for number in range(100_000)})
    for folder in (b"tasks", b".taskstate"):
        made = tree(root, {folder: (b"40000", made)})
    stands_at(root, made)


def _no_commit(root: Path) -> None:
    (root / "HEAD").write_text(git(root, "rev-parse", BLOB) + "\n", "utf-8")


def _given_away(root: Path) -> None:
    if os.geteuid() == 0:
        for path in (root, *root.rglob("*")):
            os.chown(path, 65534, 65534)


def _promisor(root: Path) -> None:
    _lose(root, "main:.taskstate/tasks/task-1-state.md")
    for key, value in {
        "extensions.partialClone": "evil",
        "remote.evil.url": f"ext::sh -c touch% {root.parent.parent}/ran",
        "remote.evil.promisor": "true",
        "protocol.ext.allow": "always",
        "core.repositoryFormatVersion": "1",
    }.items():
        git(root, "config", key, value)


def _lose(root: Path, name: str) -> None:
    loose(root, name).unlink()


def _write(name: str, text: str) -> Callable[[Path], object]:
    return lambda root: (root / name).write_text(text, "utf-8")


def _fifo(name: str) -> Callable[[Path], object]:
    return lambda root: replaced_by_fifo(root / name)


def _link(name: str, to: str) -> Callable[[Path], None]:
    def make(root: Path) -> None:
        path = root / name
        if path.is_dir():
            shutil.move(path, root.parent.parent / f"moved-{root.name}")
        else:
            path.unlink()
        path.symlink_to(to)

    return make


def _packed_only(root: Path) -> None:
    git(root, "pack-refs", "--all")
    git(root, "repack", "-adq")


def _detached(root: Path) -> None:
    (root / "HEAD").write_text(git(root, "rev-parse", "main") + "\n", "utf-8")


def _without_commit(root: Path) -> None:
    shutil.rmtree(root / "refs" / "heads")
    (root / "refs" / "heads").mkdir()


BLOB = f"main:{TASKS}/task-1-state.md"
# What is done to a bare repository, its status afterwards, and what its row says.
TRICKS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "detached": (_detached, "ok", ""),
    "packed-only": (_packed_only, "ok", ""),
    "alternates-inside": (_inside, "ok", ""),
    "alternates-loop": (lambda root: _lends(root, str(root / "objects")), "ok", ""),
    "alternates-circle": (_in_a_circle, "ok", ""),
    "another-owner": (_given_away, "ok", ""),
    "config-fifo": (_fifo("config"), "ok", ""),
    "config-include": (_write("config", "[include]\n\tpath = /dev/zero\n"), "ok", ""),
    "grafts": (_write("info/grafts", "x"), "ok", ""),
    "hooks": (_write("hooks/post-checkout", "#!/bin/sh\ntouch ran\n"), "ok", ""),
    "head-to-nothing": (_write("HEAD", "ref: refs/heads/other\n"), "unborn", ""),
    "no-commit": (_without_commit, "empty", ""),
    "head-fifo": (_fifo("HEAD"), "error", "HEAD"),
    "packed-refs-fifo": (
        lambda root: (_write("HEAD", "ref: refs/heads/other\n")(root), _fifo("packed-refs")(root)),
        "error",
        "packed-refs",
    ),
    "reference-fifo": (_fifo("refs/heads/main"), "error", "refs/heads/main"),
    "alternates-fifo": (_fifo("objects/info/alternates"), "error", "alternates"),
    "head-leads-out": (_write("HEAD", "ref: refs/../../../secret\n"), "error", "which is not a reference"),
    "head-is-noise": (_write("HEAD", "\x1b[31mnoise"), "error", "neither a commit nor a reference"),
    "head-circle": (
        lambda root: (_write("HEAD", "ref: refs/heads/a")(root), _write("refs/heads/a", "ref: refs/heads/a")(root)),
        "error",
        "from reference to reference",
    ),
    "head-link": (_link("HEAD", "refs/heads/main"), "error", "link"),
    "objects-link": (_link("objects", "../../moved-objects-link"), "error", "lies outside of the sources"),
    "object-link": (_object_link, "error", "holds a link"),
    "pack-link": (_link("objects/pack", "../../../moved-pack-link"), "error", "holds a link"),
    "alternates-outside": (_outside, "error", "lies outside of the sources"),
    "alternates-quoted": (_quoted, "error", "whose name is quoted"),
    "alternates-behind-a-link": (_behind_a_link, "error", "lies outside of the sources"),
    "alternates-too-deep": (_too_deep, "error", "too many folders in a row"),
    "reftable": (lambda root: (root / "reftable").mkdir(), "error", "reftable"),
    "head-no-commit": (_no_commit, "error", "is not a commit"),
    "path-leads-out": (_leads_out(b".."), "error", "which git does not check out"),
    "path-absolute": (_leads_out(b"/etc"), "error", "which git does not check out"),
    "path-of-git": (_leads_out(b".GIT"), "error", "which git does not check out"),
    "listing-endless": (_endless, "error", "says more than 64 MiB"),
    "very-many": (_very_many, "error", "it has 100000 files"),
    "wrong-blob": (lambda root: _wrong_object(root, BLOB), "error", "is corrupt"),
    "wrong-commit": (lambda root: _wrong_object(root, "main"), "error", "is corrupt"),
    "missing-blob": (lambda root: _lose(root, BLOB), "error", "is not in the repository"),
    "missing-tree": (lambda root: _lose(root, "main^{tree}"), "error", "git ls-tree failed in"),
    "missing-commit": (lambda root: _lose(root, "main"), "error", "is not in the repository"),
    "promisor": (_promisor, "error", "is not in the repository"),
    "cut-pack": (_cut_pack, "error", ""),
    "flipped-byte": (_flipped, "error", ""),
}
