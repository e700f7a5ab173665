"""Formats state files: brings them into their canonical form without changing what they say.

Each pass computes edits from the document, and the next pass works on the result. At the end it is checked that the
text still means the same; a text for which that check fails is left as it was.

    format_files   formats files on disk
    formatter      runs the passes and the check
    equivalence    compares the meaning of two texts
    key_order      order of keys in the front matter; schema_order: the order that the schemas declare
    front_matter   quoting of values, blanks at line ends
    parts          which parts of the body may be changed, and their canonical headings
    fences         the json fences that the schemas describe
    spacing        blank lines between parts; markdown: blank lines and list markers within a part

Derived values come from `model.derived_values`. What the tool writes has the canonical form already. Nothing is
imported here: two lint rules share `parts` and `key_order`, and a lint run should not pay for the rest.
"""
