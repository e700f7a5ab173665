r"""Strategies for YAML and JSON: ordinary, uncommon and malformed front matter, JSON with any spacing, damaged texts.

Forms are kept one a line, with `\n` and other escapes written out; `K` stands for a key.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from typing import Any

SAMPLE = """\
taskstate: 1
# who and what
task_id: "7"
title: Parser for tables   # short
status: in_progress
prd: ../plans/tables.md
depends_on: ["5", '6', x-9]
created_at: "2025-02-03T10:00:00Z"
sessions: {total: 3, archived: 0, recent: 3}
archive_path: null
context:
  sealed_at: "2025-02-03T10:01:00Z"
  sources:
    - {path: plans/tables.md, sha256: "0f1e2d3c4b5a69788796a5b4c3d2e1f0"}
    - {path: plans/cells.md, sha256: "00112233445566778899aabbccddeeff"}
  # nothing here
  seal: "abcdef0123456789"

coordination:
  implementer:
    status: done
    blocking_findings: []
    qa: {lint: {ok: true, text: "0 problems, 12 files"}}
    "unit tests": {ok: false, text: "it said \\"no\\""}
  reviewer: {status: pending, drift_budget: 0}
evidence:
- id: e1
  lines: L1-L4
- id: e2
  path:
"""

_VALUES = r"""
x|12|-1|1.5|0o17|1e3|true|null|~|yes||a b  c|a: b|a:b|a #b|a#b|#c|# c|=|=x|a, b|a]|}b|$x|^|+1|.5|.inf|a  # b|'a' b
'q'|'it''s'|"q"|"a\\nb"|"a\\u00e9"|'x' # c|"|'|[]|{}|[a, b]|[a, [b, {c: d}]]|[a b , c]|"\\"q\\" \\\\ \\t"|"a"b|"a" : b
{a: 1}|{a: 1, a: 2}|{a: [1], b: {c: 'x'}}|{a}|{a: }|[a: b]|[a,]|[,]|{'a': 1}|{"a": 1, b: "2"}|{a: 1} # c|{a: 1}x|[a]#c
[a:b]|[a?]|[http://x]|http://x.y/z?a=b|[ ]|{ }|[ a ]|[[[[[[[[[[[[x]]]]]]]]]]]]|[a\nb]|{a: "b" , c: 'd'}|["a", "b"]
&a 1|*a|!t x|!!str 1|@b|`c`|%d|- x|- - x|? x|<<|---|...|a\tb|\tx|x\t# c|-|--|-x|:|:x|x:|?|?x|\\x|<x|(y)|>-|x\n  y
über|日本|\u2028|a\u2028b|\x85|\ufeff|\xa0x|😀 x|\x07|a\x7fb|\ud7ff|\ue000|\ufffd|\ufffe|\u200b|\u202ex|\r|a\rb
"""
_KEYS = r"""
a|b|c|d_e|x-y|k.l|é|'q'|"q"|"a b"|a b|<<|1|?|? a|-|- a|- - a|*x|&x a|null||A|"\\"|"a#"|{a: b}|[a]
"""
_LEGAL = r"""
K: v # c\n|K:\n|K:   # c\n|K: 12\n|K : v\n|"K": v\n|K: 'it''s'\n|K: "a\\nb"\n|K:\n  v\n|K: # c\n  v\n|K: 2024-01-01\n
K: >-\n  a\n  b\n\n|K: a\n  b\n|K: a\n\n  b # c\n|K: 'a\n\n  b' # c\n|K: "a\n  b"\n|K: &K [1]\n|K: &K\n  a: 1\n|? K\n
K:\n  - x\n  # c\n  - y: 1\n    z: 2 # d\n\n|K:\n- x\n- {y: 1}\n|K:\n  -\n  - \n  - a\n|? K\n: v\n|K: é 日本\n|K: 0o17\n
K:\n  - - 1\n    - 2\n  -   a: 1\n      b: 2\n|K:\n  a: 1\n  b:\n    c: [1,\n     2] # e\n# f\n|K: {a: 1, # c\n  b: 2}\n
K: # c\n  # d\n  a: 1 # e\n  # f\n|K: {}\n|K: []\n|K: {a: 1, b, c: }\n|K: [a, b: c]\n|K: [\n  a, # c\n  b,\n]\n|\n\n
# c\n|\n|  # c\n|  \n|K:\n  <<: {m: 1}\n  n: 2\n|K: yes # n\n|K: {"a":1, b: [x, {y: z}]}\n
K: {a: 1,}\n|K: {a:, b: 1}\n
"""
_TEXT_BLOCKS = r"""
K: |\n  x\n  y\n@K: |+\n  x\n\n@K: |\n  x\n   \n@K: |2\n    x\n@K: |\n\n@K: | # c\n  x\n
K:\n  a:\n    b: |\n        x\n  d:\n
"""
_BITS = r"""
\n@\r@\t@ @:@#@-@'@"@[@]@{@}@,@?@&@*@!@|@>@%@~@\\@\x85@\u2028@\ufeff@\r\n@  @: @ #@- @<<: @''@\n\n@\n  @a: b\n@...\n
"""
_BAD_VALUES = (  # as people write them, and what they mean
    *(("Fix: the bug", "Fix: the bug"), ("a: b: c", "a: b: c"), ("note:", "note:"), ('say: "hi"', 'say: "hi"')),
    *(("@bob", "@bob"), ("`code`", "`code`"), ("@a, @b", "@a, @b"), ("%50", "%50"), ("*bold* text", "*bold* text")),
    *(
        ("'it's'", "it's"),
        ("'rock 'n' roll'", "rock 'n' roll"),
        ("'a: b's'", "a: b's"),
        ("'don''t can't'", "don't can't"),
    ),
    *(("[WIP] fix", "[WIP] fix"), ('"a" and b', '"a" and b'), ("[@a, b]", ["@a", "b"]), ("[*.py, #7]", ["*.py", "#7"])),
    *(("*.py", "*.py"), ("x: 'y'", "x: 'y'"), ("> 5 items", "> 5 items"), ("Fix: #7 now", "Fix: #7 now")),
)


def _forms(source: str, separator: str = "|") -> list[str]:
    """Return the forms of a table, their escapes resolved."""
    table = source.strip("\n").replace("\n", separator)
    return [form.encode("latin-1", "backslashreplace").decode("unicode_escape") for form in table.split(separator)]


_LEGAL_FORMS = [*_forms(_LEGAL), *_forms(_TEXT_BLOCKS, "@")]
_ODD_VALUES = st.sampled_from([*_forms(_VALUES), "|", "|\n  x", "|+\n  x\n\n", "x" * 1100, f'"{"x" * 1100}"'])
_ODD_KEYS = st.sampled_from(_forms(_KEYS))
_COLONS = st.sampled_from([": ", ": ", ": ", ":", ":  ", " : ", ""])
_INDENTS = st.sampled_from(
    ["", "", "", "  ", "  ", "    ", " ", "   ", "\t", "- ", "  - ", "-   ", "- - ", "  -\t", "-"]
)
_ENDS = st.sampled_from(
    ["\n"] * 12 + ["\r\n", "\r", "\n\n", "\n  \n", "\n# c\n", "\n  # c\n", " # c\n", " \n"],
)


@st.composite
def _odd_lines(draw: st.DrawFn) -> str:
    lines = draw(st.lists(st.tuples(_INDENTS, _ODD_KEYS, _COLONS, _ODD_VALUES, _ENDS), max_size=7))
    return "".join("".join(line) for line in lines)


_WORDS = st.text(st.sampled_from("abcxyzABC_019 .-/é#:'\"\\,[]{}&*!|>%@`?~=<"), max_size=12)
_BMP = st.text(
    st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=8
)  # YAML has no surrogate pairs
_PLAIN_KEYS = st.text(st.sampled_from("abcdxyz_"), min_size=1, max_size=4)
_nested = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**6), 10**6), _WORDS, _BMP),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_PLAIN_KEYS, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def _styled(draw: st.DrawFn, value: Any, indent: int, *, flow: bool) -> str:  # noqa: ANN401 - any YAML value
    """Return a value in one of the styles in which YAML can write it; a block begins with its line end."""
    if not isinstance(value, (dict, list)):
        return draw(_styled_scalar(value, flow=flow))
    if flow or not value or draw(st.booleans()):
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key}: {draw(_styled(child, 0, flow=True))}" for key, child in value.items()) + "}"
        return "[" + ", ".join(draw(_styled(child, 0, flow=True)) for child in value) + "]"
    margin = "\n" + " " * indent
    if isinstance(value, dict):
        return "".join(f"{margin}{key}: {draw(_styled(child, indent + 2, flow=False))}" for key, child in value.items())
    items = [draw(_styled(child, indent + 2, flow=False)) for child in value]
    return "".join(f"{margin}- {item.lstrip() if item.startswith(chr(10)) else item}" for item in items)


@st.composite
def _styled_scalar(draw: st.DrawFn, value: Any, *, flow: bool) -> str:  # noqa: ANN401 - any YAML scalar
    if not isinstance(value, str):
        return json.dumps(value) if flow or value is not None else draw(st.sampled_from(["", "null", "~"]))
    style = draw(st.sampled_from(["plain", "single", "double"]))
    if style == "plain" and value.isidentifier():
        return value
    if style == "single" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    return json.dumps(value)


@st.composite
def _ordinary(draw: st.DrawFn) -> str:
    mapping = draw(st.dictionaries(_PLAIN_KEYS, _nested, min_size=1, max_size=4))
    text = "".join(f"{key}: {draw(_styled(value, 2, flow=False))}\n" for key, value in mapping.items())
    return draw(st.sampled_from([text, text, text.replace("\n", "\r\n"), text.replace(" \n", "\n")]))


@st.composite
def _lines_of_sample(draw: st.DrawFn) -> str:
    lines = SAMPLE.splitlines(keepends=True)
    return "".join(lines[number] for number in sorted(draw(st.lists(st.integers(0, len(lines) - 1), max_size=8))))


@st.composite
def damaged(draw: st.DrawFn, texts: st.SearchStrategy[str], pieces: st.SearchStrategy[str]) -> str:
    """Return a text with a few pieces put in, taken out or doubled."""
    text = draw(texts)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + draw(st.sampled_from([0, 1, 3, 30])))))
        text = text[:start] + draw(st.one_of(pieces, st.just(""), st.just(text[start:end] * 2))) + text[end:]
    return text


@st.composite
def sound_front_matters(draw: st.DrawFn) -> str:
    """Return a front matter of legal entries in uncommon forms, each key once."""
    forms = draw(st.lists(st.sampled_from(_LEGAL_FORMS), min_size=1, max_size=6))
    text = "".join(form.replace("K", f"k{number}") for number, form in enumerate(forms))
    anchors = [f"k{number}" for number in range(len(forms)) if f"&k{number}" in text]
    if draw(st.booleans()):
        lines = text.split("\n")[:-1]
        text += "last:\n" + "".join(f"  {line}\n" if line else "\n" for line in lines).replace("&", "&l")
    text += "".join(f"alias_of_{anchor}: *{anchor}\n" for anchor in anchors)
    return draw(st.sampled_from([text, text, text.replace("\n", "\r\n")]))


@st.composite
def malformed_front_matters(draw: st.DrawFn) -> tuple[str, str, object]:
    """Return a front matter with one malformed entry, that entry's key, and the value that was meant."""
    lines = draw(st.sampled_from([SAMPLE, "a: 1\n", "", "a:\n  - b\n# c\n"]))
    source, meant = draw(st.sampled_from(_BAD_VALUES))
    comment = draw(st.sampled_from(["", "", " # c", "  "]))
    after = draw(st.sampled_from(["", "z: 1\n", "# c\n\nz: [1]\n"]))
    text = f"{lines}bad: {source}{comment}\n{after}"
    return draw(st.sampled_from([text, text.replace("\n", "\r\n")])), "bad", meant


front_matters = st.one_of(_ordinary(), _ordinary(), st.just(SAMPLE), st.just(SAMPLE.replace("\n", "\r\n")))
any_front_matters = st.one_of(
    front_matters,
    sound_front_matters(),
    _lines_of_sample(),
    damaged(front_matters | sound_front_matters(), st.sampled_from(_forms(_BITS, "@")) | _ODD_VALUES),
    _odd_lines(),
    st.text(st.sampled_from("ab:- \n\t'\"[]{},#&*!|>?"), max_size=30),
    st.text(max_size=30),
)
yaml_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), _WORDS, _WORDS, st.text(max_size=8)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_PLAIN_KEYS | st.text(max_size=4), inner, max_size=4),
    max_leaves=10,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=10,
)
_WHITE = st.text(st.sampled_from(" \n\t\r"), max_size=3)
_SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), (" ,", " : "), ("\n,\t", ":\r\n")])
_JSON_BITS = st.sampled_from(
    _forms(
        r"""
{@}@[@]@,@:@"@\\@'@.@-@+@e@E@0@1@2@3@ @\n@\t@\x00@/@#@é@\xa0@\ufeff@true@NaN@Infinity@-Infinity@null@maybe@//c@[[
\\ud800@\\ud83d\\ude00@\\u00e9@\\x@"a":1@"a":1,"a":2@""@01@1.@-@'a'@,@{"a": @}@]
""",
        "@",
    )
)


@st.composite
def spaced_json(draw: st.DrawFn) -> str:
    """Return a value as JSON with white space of some style."""
    indent, separators = draw(st.sampled_from([None, None, 0, 2, 4, "\t"])), draw(_SEPARATORS)
    text = json.dumps(draw(json_values), ensure_ascii=draw(st.booleans()), indent=indent, separators=separators)
    return draw(_WHITE) + draw(st.sampled_from([text, text.replace("\n", "\r\n")])) + draw(_WHITE)


any_json = spaced_json() | damaged(spaced_json() | st.lists(_JSON_BITS, max_size=8).map("".join), _JSON_BITS)
