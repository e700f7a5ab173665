"""Which commands commit and patch, and where."""

from __future__ import annotations

import shlex

import pytest

from taskstate.agents.shell_commands import commit_folders, patches

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
        ("cd a; bash <<'EOF'\ngit commit -m x\nEOF", ["/r/a"]),
        ("sh run.sh <<'EOF'\ngit commit -m x\nEOF", []),
        ("git commit -m '\0009\000'", ["/r"]),
        (MESSAGE, ["/r"]),
        ("git commit -m 'never closed", ["/r"]),
        ("ls # don't\ngit commit -m x", ["/r"]),
        ("(make) # it's `so`\ngit commit -m x", ["/r"]),
        ("cat <<E # don't\nx\nE\ngit commit", ["/r"]),
        ("echo a#'b # c'; git commit", ["/r"]),
        ("(cd sub && ls); git commit", ["/r"]),
        ("(cd a; (cd b; git commit); git commit); git commit", ["/r/a/b", "/r/a", "/r"]),
        ("x=`cd a; pwd`; y=$(cd b; pwd); git commit", ["/r"]),
        ("case x in a) cd b;; esac; git commit", ["/r/b"]),
        ("cd - && git commit", ["/r"]),
        ("cd a; cd b; cd - && git commit", ["/r/a"]),
        ("pushd a; git commit; popd; git commit", ["/r/a", "/r"]),
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


def patch(name: str) -> str:
    """Return a patch that deletes a file."""
    return f"*** Begin Patch\n*** Delete File: {name}\n*** End Patch"


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (f"apply_patch <<'EOF'\n{patch('a')}\nEOF", ["/r a"]),
        (f"apply_patch <<EOF\n{patch('$a')}\nEOF\n", ["/r $a"]),
        (f"cd sub && /usr/bin/apply_patch << 'P' && git commit -m x\n{patch('a')}\nP\nls", ["/r/sub a"]),
        (f"apply_patch <<A && cd s; apply_patch <<B\n{patch('a')}\nA\n{patch('b')}\nB", ["/r a", "/r/s b"]),
        (f"apply_patch '{patch('a')}'; applypatch <<< '{patch('b')}'", ["/r a", "/r b"]),
        (f"apply_patch \"$(cat <<'EOF'\n{patch('a')}\nEOF\n)\"", ["/r a"]),
        (f"cat <<'EOF' | apply_patch\n{patch('a')}\nEOF", ["/r a"]),
        (f"cat > p <<'EOF'\n{patch('a')}\nEOF\napply_patch < p", ["/r a"]),
        (f"cat > p <<'EOF'\n{patch('a')}\nEOF\nls; apply_patch < p", ["/r a"]),
        (f"(cd sub && ls); apply_patch <<'EOF'\n{patch('a')}\nEOF", ["/r a"]),
        (f"apply_patch <<-EOF\n\t{patch('a')}\n\tEOF", ["/r a"]),
        (shlex.join(["bash", "-lc", f"cd s && apply_patch <<'EOF'\n{patch('a')}\nEOF"]), ["/r/s a"]),
        (f"bash -lc \"apply_patch <<'EOF'\n{patch('a')}\nEOF\"", ["/r a"]),
        (f"bash -s <<'EOF'\ncd s\napply_patch <<'P'\n{patch('a')}\nP\nEOF", ["/r/s a"]),
        (f"cat > p <<'EOF'\n{patch('a')}\nEOF", []),
        (f"grep apply_patch <<'EOF'\n{patch('a')}\nEOF", []),
        (f"# apply_patch\ngit commit -m '{patch('a')}'", []),
        (f"apply_patch \0{9}\0 <<'EOF'\nnothing\nEOF", []),
        ("apply_patch < file.patch", []),
        ("apply_patch", []),
    ],
)
def test_only_what_a_patcher_is_given_is_a_patch(command: str, found: list[str]) -> None:
    """It is a word or a here document of its own or of the command before; its paths go out from the folder of then."""
    deleted = "*** Delete File: "
    seen = [
        f"{each.folder} {line.strip().removeprefix(deleted)}"
        for each in patches(command, "/r")
        for line in each.text.splitlines()
        if deleted in line
    ]
    assert seen == found


@pytest.mark.parametrize("deep", [3, 900])
def test_shells_in_shells_are_read_or_taken_for_a_commit(deep: int) -> None:
    """However deep they stand in each other, none of it breaks the reading, and nothing slips through."""
    command = f"git commit; apply_patch '{patch('a')}'"
    for number in range(deep):
        command = f"bash <<'E{number}'\n{command}\nE{number}"
    assert [*commit_folders(command, "/r")] == ["/r"]
    assert ["Delete File: a" in each.text for each in patches(command, "/r")] == [True]
