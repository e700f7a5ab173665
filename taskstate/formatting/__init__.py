"""The canonical form of a state file.

Every pass looks at the document and gives edits; the next one looks at the text that comes of them. Then it is proved
that the text says the same as before, and a text for which that fails is left as it was.

    layout         the passes and the proof: `formatted` is the way in
    key_order      the order of keys in the front matter; order: what it is, by the schemas
    front_matter   quoting of values, blanks at line ends
    parts          which parts of the body may be touched, and how their headings are written
    fences         the json fences that the format reads
    spacing        blank lines, blanks at line ends; markdown: the same within a part, and list markers
    proof          whether two texts say the same

Derived values are those of `derived`. What the tool writes has this form already. Nothing is imported here: two lint
rules share `parts` and `key_order`, and a lint run should not pay for the rest.
"""
