"""The steps that are commands of git. A step that does not fit where it stands does nothing."""

from __future__ import annotations

import shutil

from tests.support.kept_cure import CureCommands
from tests.support.kept_world import TASK, archive_name, state_name


class GitCommands(CureCommands):
    """Whoever works in the repository with git, and with our commands."""

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
        for command in ("merge", "rebase", "cherry-pick", "revert"):
            if not self.world.ask(command, "--abort").status:
                self.world.note(f"git {command} --abort")

    def worktree_add(self, n: int) -> None:
        """Make a linked working tree, and work there."""
        if self.world.clone() == "other":
            return
        name = f"linked-{len(self.world.trace)}-{n}"
        place = self.world.here.with_name(name)
        if not self.world.git("worktree", "add", "-q", "-b", name, str(place)).status:
            self.world.trees[name], self.world.where = place, name

    def worktree_enter(self, n: int) -> None:
        """Work in another working tree."""
        others = [name for name in self.world.trees if name not in {self.world.where, "other"}]
        if others and self.world.clone() == "main":
            self.world.where = others[n % len(others)]
            self.world.note(f"cd {self.world.where}")

    def worktree_remove(self, n: int) -> None:
        """Remove a linked working tree by force, and work in the main one."""
        linked = [name for name in self.world.trees if name not in {"main", "other"}]
        if linked and self.world.clone() == "main":
            name = linked[n % len(linked)]
            self.world.where = "main"
            if not self.world.git("worktree", "remove", "--force", str(self.world.trees[name])).status:
                shutil.rmtree(self.world.trees.pop(name), ignore_errors=True)

    def gc(self, n: int) -> None:
        """Let git throw away what nothing reaches, not even a reflog if it forgets those as well."""
        if n % 2:
            self.world.git("reflog", "expire", "--expire=now", "--all")
        self.world.git("gc", "-q", "--prune=now")

    # Ordinary ways to work with others.

    def squash(self, n: int) -> None:
        """Merge another branch as one commit of its own."""
        if not self.world.git("merge", "-q", "--squash", self._other_branch(n)).status:
            self.world.git("commit", "-qm", "squashed", "--no-verify")

    def revert(self, n: int) -> None:
        """Take the last commit, or the one before, back with a new one."""
        if self.world.ask("log", "-1", "--format=%s", _back(n)).out.strip() != "begin":
            self.world.git("revert", "--no-edit", _back(n))

    def push(self, n: int) -> None:
        """Push the branch here to a bare repository beside, by force or not."""
        remote = self.world.folder / "remote.git"
        if not remote.exists():
            self.world.ask("init", "-q", "--bare", "-b", "main", str(remote))
        if "origin" not in self.world.ask("remote").out.split():
            self.world.ask("remote", "add", "origin", str(remote))
        self.world.git("push", "-q", *(["--force"] if n == 5 else []), "origin", "HEAD")

    def pull(self, n: int) -> None:
        """Pull a branch of the bare repository, merging or rebasing."""
        names = self.world.ask("ls-remote", "--heads", "origin").out.split()[1::2]
        branches = [name.removeprefix("refs/heads/") for name in names if not name.endswith("early")]
        if branches:
            branch = branches[n // 2 % len(branches)]
            self.world.git("pull", "-q", "--no-edit", "--rebase" if n % 2 else "--no-rebase", "origin", branch)

    def clone(self, n: int) -> None:
        """Work in the other clone, which is made of the bare repository at first."""
        if self.world.clone() == "other":
            self.world.where = "main"
        elif "other" in self.world.trees:
            self.world.where = "other"
        else:
            self.push(0)
            self.world.git("push", "-q", "origin", "--all")
            place = self.world.folder / "other"
            if self.world.git("clone", "-q", str(self.world.folder / "remote.git"), str(place)).status:
                return
            self.world.trees["other"], self.world.where = place, "other"
            self.world.name_author()
            if self.world.driver or not (place / "taskstate.toml").exists():  # of a HEAD without a branch
                self.world.taskstate("init")
            self.world.git("checkout", "-q", "-b", f"theirs-{n}")
        self.world.note(f"cd {self.world.where}")

    # The same, with nothing in the way: what is there is committed first, and what has a conflict is given up.

    def calmly(self, step: str, n: int) -> None:
        """Commit what is there, take a step, and give up what has a conflict."""
        self.commit(1)
        getattr(self, step)(n)
        self.abort(n)
        if self.world.ask("status", "--porcelain").out:  # what a squash that has a conflict leaves
            self.world.git("reset", "-q", "--hard")

    def put_aside(self, n: int) -> None:
        """Stash all that is not committed, and take it back."""
        if self.world.ask("status", "--porcelain").out:
            self.stash(1)
            if n % 2:
                self.world.git("commit", "-q", "--allow-empty", "-m", "in between", "--no-verify")
            self.stash_pop(n)

    def bisect(self, n: int) -> None:
        """Commit, look for the commit that broke something, and look at the tasks there."""
        self.commit(1)
        first = self.world.ask("rev-list", "--max-parents=0", "HEAD").out.split()
        if first and not self.world.git("bisect", "start", "HEAD", first[-1]).status:
            self.model.check()
            self.world.git("bisect", "good" if n % 2 else "bad")
            self.model.check()
        self.world.git("bisect", "reset")

    def _branch(self) -> str:
        return self.world.ask("symbolic-ref", "--short", "-q", "HEAD").out.strip()

    def _other_branch(self, n: int) -> str:
        now = self._branch()
        others = [branch for branch in self.world.branches() if branch != now]
        return others[n % len(others)] if others else now


def _back(n: int) -> str:
    return "HEAD~1" if n % 2 else "HEAD"
