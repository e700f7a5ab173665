from __future__ import annotations

import subprocess
import sys

import pytest

_LEAN = "import sys; from taskstate.cli.lean_imports import import_lean; import_lean(); "


def printed(code: str) -> str:
    """Return what a new interpreter prints that runs this code."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    return run.stdout.strip()


@pytest.mark.parametrize("name", ["urllib.parse", "ipaddress", "gettext"])
def test_what_no_command_calls_is_not_loaded(name: str) -> None:
    """Both modules are there without what they load for functions that hardly any command calls."""
    code = _LEAN + f"print({name!r} in sys.modules, 'argparse' in sys.modules, 'pathlib' in sys.modules)"
    assert printed(code) == "False True True"


def test_everybody_else_gets_the_real_modules() -> None:
    """Whoever imports one of those modules afterwards gets it as it is."""
    code = _LEAN + "import gettext, urllib.parse; print(urllib.parse.quote('a b'), gettext.ngettext('one', 'more', 2))"
    assert printed(code) == "a%20b more"


def test_what_was_imported_stays() -> None:
    """A module that was imported before is used, and stays where it is."""
    code = f"import urllib.parse as real; {_LEAN} import urllib.parse as now; print(real is now)"
    assert printed(code) == "True"


def test_the_functions_behind_them_work() -> None:
    """A path has its URI, and the parser words its errors and its help with numbers, as with the real modules."""
    code = _LEAN + "from pathlib import Path; print(Path('/a b/ü').as_uri())"
    assert printed(code) == "file:///a%20b/%C3%BC"
    for flag in ("['--two', '1']", "['--help']"):
        wording = (
            "import argparse; parser = argparse.ArgumentParser(prog='x', exit_on_error=False); "
            "parser.add_argument('--two', nargs=2, help='two of them')\n"
            f"try: parser.parse_args({flag})\n"
            "except (argparse.ArgumentError, SystemExit) as error: print(error)"
        )
        assert printed(_LEAN + wording) == printed(wording) != ""
