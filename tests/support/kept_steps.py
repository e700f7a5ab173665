"""The steps of a history: commands of ours, of git, and what editors do. Each takes a number and reads it as it likes.

A step that does not fit where it stands does nothing, so that a history stays one when parts of it are left out.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from tests.support.kept_commands import Commands
from tests.support.kept_world import TASK, TASKS, archive_name, state_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.support.kept_model import Model
    from tests.support.kept_world import World


class Steps(Commands):
    """Whoever works in the repository with git, with editors, and with our commands."""

    def __init__(self, world: World, model: Model) -> None:
        super().__init__(world, model)
        self._loaded: list[tuple[str, str]] = []

    # Commands of git.

    def stage(self, n: int) -> None:
        """Put everything or the state file alone into the index."""
        self.world.git("add", *([state_name(TASK)] if n % 3 == 2 else ["-A"]))

    def commit(self, n: int) -> None:
        """Commit everything, now and then the index alone."""
        if n:
            self.world.git("add", "-A")
        self.world.git("commit", "-qm", "work", "--no-verify")

    def amend(self, n: int) -> None:
        """Write the last commit anew."""
        if n % 2:
            self.world.git("add", "-A")
        self.world.git("commit", "-q", "--amend", "--no-edit", "--no-verify")

    def reset_soft(self, n: int) -> None:
        """Move the branch."""
        self.world.git("reset", "-q", "--soft", _back(n))

    def reset_mixed(self, n: int) -> None:
        """Move the branch and the index."""
        self.world.git("reset", "-q", "--mixed", _back(n))

    def reset_hard(self, n: int) -> None:
        """Move all there is."""
        self.world.git("reset", "-q", "--hard", _back(n))

    def checkout_files(self, n: int) -> None:
        """Take files back from the index or from HEAD."""
        where = (state_name(TASK), archive_name(TASK), ".taskstate/archives", ".")[n % 4]
        self.world.git("checkout", "-q", *(["HEAD"] if n > 3 else []), "--", where)

    def restore(self, n: int) -> None:
        """Take the state file or everything back, from a commit before as well."""
        source = ["--source=HEAD~1"] if n % 2 else ["--source=HEAD"]
        where = "." if n > 3 else state_name(TASK)
        self.world.git("restore", *source, *(["--staged", "--worktree"] if n % 3 == 2 else []), "--", where)

    def switch(self, n: int) -> None:
        """Go to another branch, with force or without."""
        self.world.git("checkout", "-q", *(["-f"] if n % 2 else []), self._other_branch(n // 2))

    def branch(self, n: int) -> None:
        """Begin a branch here."""
        self.world.git("checkout", "-q", "-b", f"side-{n}")

    def branch_delete(self, n: int) -> None:
        """Delete a branch with all it has."""
        self.world.git("branch", "-q", "-D", self._other_branch(n))

    def stash(self, n: int) -> None:
        """Stash, with what is not tracked or without."""
        self.world.git("stash", "push", "-q", *(["-u"] if n % 2 else []))

    def stash_pop(self, n: int) -> None:  # noqa: ARG002 - all steps are called alike
        """Take the last stash back."""
        self.world.git("stash", "pop", "-q")

    def stash_drop(self, n: int) -> None:  # noqa: ARG002 - all steps are called alike
        """Drop the last stash."""
        self.world.git("stash", "drop", "-q")

    def clean(self, n: int) -> None:
        """Delete what is not tracked, ignored files as well or not."""
        self.world.git("clean", "-q", "-fdx" if n % 2 else "-fd")

    def rebase(self, n: int) -> None:
        """Rebase onto another branch."""
        self.world.git("rebase", "-q", self._other_branch(n))

    def cherry_pick(self, n: int) -> None:
        """Take another branch's last commit over."""
        self.world.git("cherry-pick", self._other_branch(n))

    def merge(self, n: int) -> None:
        """Merge another branch."""
        self.world.git("merge", "-q", "--no-edit", self._other_branch(n))

    def abort(self, n: int) -> None:  # noqa: ARG002 - all steps are called alike
        """Give up what has a conflict."""
        for command in ("merge", "rebase", "cherry-pick"):
            if not self.world.ask(command, "--abort").status:
                self.world.note(f"git {command} --abort")

    def worktree_add(self, n: int) -> None:
        """Make a linked working tree, and work there."""
        name = f"linked-{len(self.world.trace)}-{n}"
        place = self.world.here.with_name(name)
        if not self.world.git("worktree", "add", "-q", "-b", name, str(place)).status:
            self.world.trees[name], self.world.where = place, name

    def worktree_enter(self, n: int) -> None:
        """Work in another working tree."""
        others = [name for name in self.world.trees if name != self.world.where]
        if others:
            self.world.where = others[n % len(others)]
            self.world.note(f"cd {self.world.where}")

    def worktree_remove(self, n: int) -> None:
        """Remove a linked working tree by force, and work in the main one."""
        linked = [name for name in self.world.trees if name != "main"]
        if linked:
            name = linked[n % len(linked)]
            self.world.where = "main"
            if not self.world.git("worktree", "remove", "--force", str(self.world.trees[name])).status:
                shutil.rmtree(self.world.trees.pop(name), ignore_errors=True)

    def gc(self, n: int) -> None:
        """Let git throw away what nothing reaches, not even a reflog if it forgets those as well."""
        if n % 2:
            self.world.git("reflog", "expire", "--expire=now", "--all")
        self.world.git("gc", "-q", "--prune=now")

    def _other_branch(self, n: int) -> str:
        now = self.world.ask("symbolic-ref", "--short", "-q", "HEAD").out.strip()
        others = [branch for branch in self.world.branches() if branch != now]
        return others[n % len(others)] if others else now

    # Editors.

    def load(self, n: int) -> None:
        """Open a state file in an editor."""
        task = TASKS[n // 4]
        state = self.world.state(task)
        if state is not None:
            self._loaded.append((task, state))
            self.world.note(f"an editor loads {task} at revision {_revision(state)}")

    def save(self, n: int) -> None:
        """Save the text that an editor loaded: in place or by rename, with an edit of its own or without."""
        if not self._loaded:
            return
        task, text = self._loaded.pop()
        if n % 2:
            text = text.replace("## 5. Git History\n", "## 5. Git History\n\n<!-- by hand -->\n", 1)
        path = self.world.here / state_name(task)
        path.parent.mkdir(parents=True, exist_ok=True)
        how = "by rename" if n // 2 % 2 else "in place"
        self.world.note(f"an editor saves {task} {how}{', with an edit' if n % 2 else ''}: {_revision(text)}")
        if how == "in place":
            path.write_bytes(text.encode())
        else:
            beside = path.with_name(f"{path.name}~")
            beside.write_bytes(text.encode())
            beside.replace(path)

    def half(self, n: int) -> None:
        """Save a part of the file: up to the last session, or some sixths of it."""
        state = self.world.state(TASK) or ""
        cut = state.rfind("\n### Session ") + 1 if n == 0 else len(state) * n // 6
        if state:
            (self.world.here / state_name(TASK)).write_bytes(state[: max(cut, 0)].encode())
            self.world.note(f"an editor saves {cut} of {len(state)} characters")

    def crlf(self, n: int) -> None:
        """Save the file with other ends of lines."""
        state = self.world.state(TASKS[n // 4])
        if state is not None:
            (self.world.here / state_name(TASKS[n // 4])).write_bytes(
                state.replace("\r\n", "\n").replace("\n", "\r\n").encode()
            )
            self.world.note(f"an editor saves {TASKS[n // 4]} with CRLF")

    def edit(self, n: int) -> None:
        """Change the text of a session by hand."""
        state = self.world.state(TASK) or ""
        items = [i for i in self.model.mine(TASK) if i.kind == "session" and not i.ended and i.token in state]
        if items:
            item = items[n % len(items)]
            item.edited = self.token().replace("-end", "-hand")
            item.ended = "edited"
            (self.world.here / state_name(TASK)).write_bytes(state.replace(item.token, item.edited).encode())
            self.world.note(f"by hand: {item.token} is now {item.edited}")
            self.model.acknowledge("hand", TASK, item.edited)

    def remove(self, n: int) -> None:
        """Delete a state file."""
        path = self.world.here / state_name(TASKS[n // 4])
        if path.exists():
            path.unlink()
            self.world.note(f"rm {state_name(TASKS[n // 4])}")


def _back(n: int) -> str:
    return "HEAD~1" if n % 2 else "HEAD"


def _revision(text: str) -> str:
    found = re.search(r"^revision: \d+", text, re.MULTILINE)
    return found[0] if found else "no revision"


# How often each is drawn.
STEPS: Mapping[str, tuple[Callable[[Steps, int], None], int]] = {
    "add": (Steps.add, 12),
    "add-aside": (Steps.add_aside, 2),
    "pass": (Steps.feature_pass, 4),
    "fail": (Steps.feature_fail, 1),
    "check": (Steps.check, 3),
    "uncheck": (Steps.uncheck, 1),
    "archive": (Steps.archive, 4),
    "archive-restore": (Steps.archive_restore, 2),
    "handoff": (Steps.handoff, 2),
    "accept": (Steps.accept, 1),
    "new": (Steps.new, 2),
    "doctor": (Steps.doctor, 2),
    "fix": (Steps.fix, 6),
    "let-go": (Steps.let_go, 2),
    "stage": (Steps.stage, 2),
    "commit": (Steps.commit, 7),
    "amend": (Steps.amend, 2),
    "reset-soft": (Steps.reset_soft, 1),
    "reset-mixed": (Steps.reset_mixed, 1),
    "reset-hard": (Steps.reset_hard, 4),
    "checkout-files": (Steps.checkout_files, 4),
    "restore": (Steps.restore, 2),
    "switch": (Steps.switch, 5),
    "branch": (Steps.branch, 3),
    "branch-delete": (Steps.branch_delete, 1),
    "stash": (Steps.stash, 3),
    "stash-pop": (Steps.stash_pop, 2),
    "stash-drop": (Steps.stash_drop, 1),
    "clean": (Steps.clean, 2),
    "rebase": (Steps.rebase, 2),
    "cherry-pick": (Steps.cherry_pick, 2),
    "merge": (Steps.merge, 3),
    "abort": (Steps.abort, 2),
    "worktree-add": (Steps.worktree_add, 1),
    "worktree-enter": (Steps.worktree_enter, 2),
    "worktree-remove": (Steps.worktree_remove, 1),
    "gc": (Steps.gc, 2),
    "load": (Steps.load, 4),
    "save": (Steps.save, 5),
    "half": (Steps.half, 2),
    "crlf": (Steps.crlf, 1),
    "edit": (Steps.edit, 3),
    "remove": (Steps.remove, 1),
}
