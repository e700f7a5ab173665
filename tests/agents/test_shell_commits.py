"""Which commands commit, and where."""

from __future__ import annotations

import shlex

import pytest

from taskstate.agents.shell_commits import commit_folders

MESSAGE = """git add -A && git commit -m "$(cat <<'EOF'
It's "done": see git commit
EOF
)"
"""
SCRIPT = """cat > run.sh <<'EOF'
git commit -m x
EOF
sh run.sh
"""


@pytest.mark.parametrize(
    ("command", "folders"),
    [
        ("git commit -m x", ["/r"]),
        ("git commit", ["/r"]),
        ("git add . && git commit -am 'a; b'", ["/r"]),
        ("FOO=bar sudo /usr/bin/git -c user.name=x --no-pager commit", ["/r"]),
        ("if true; then git commit -m x; fi", ["/r"]),
        ("(git commit -m x) 2>&1 | tail -3", ["/r"]),
        ("make # first\ngit commit -m 'fix #12'", ["/r"]),
        ("cd sub && git commit -am y", ["/r/sub"]),
        ("cd sub\ngit -C ../b commit; git -C b -C c commit", ["/r/b", "/r/sub/b/c"]),
        ("cd $DIR && git commit", ["/r"]),
        ("git --work-tree=/w --git-dir /w/.git commit", ["/w"]),
        ("bash -lc 'cd a && git commit -m x'", ["/r/a"]),
        ("eval git commit", ["/r"]),
        (MESSAGE, ["/r"]),
        ("git commit -m 'never closed", ["/r"]),
        ('grep -rn "git commit" docs', []),
        ('git log --grep "git commit"', []),
        ("git log --grep=commit; git show commit", []),
        ("git commit-tree abc -m x", []),
        ("git config alias.ci commit", []),
        ("echo git commit", []),
        ("# git commit\nls", []),
        (SCRIPT, []),
        ("", []),
    ],
)
def test_only_a_commit_is_one(command: str, folders: list[str]) -> None:
    """Words of another program, of a text and of a here document are none; the folder follows `cd` and `-C`."""
    assert [*commit_folders(command, "/r")] == folders


def test_a_command_in_a_list_is_the_same() -> None:
    """Some clients give the words apart."""
    assert [*commit_folders(shlex.join(["bash", "-lc", "git commit -m 'a b'"]), "/r")] == ["/r"]
