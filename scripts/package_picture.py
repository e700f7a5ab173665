"""Draws the imports between packages as SVG; imports that follow from others (a to b to c) have no arrow."""

from __future__ import annotations

from scripts.import_graph import ORDER, package_edges

# Packages that are used everywhere, and the start script.
LEFT_OUT = {"version", "typed", "error_codes", "errors", "signals", "resources", "messages", "__main__"}
WIDTH, HEIGHT, GAP_X, GAP_Y = 120, 34, 28, 44
_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="15" \
role="img">
<title>Which package imports which</title>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">\
<path d="M0 0 8 4 0 8z" fill="#7a8290"/></marker></defs>
"""


def picture() -> str:
    """Return the picture, in which each package is above all packages that it imports."""
    direct = _direct()
    rows: list[list[str]] = []
    row_of: dict[str, int] = {}
    for package in direct:
        row_of[package] = max((row_of[each] + 1 for each in direct[package]), default=0)
        rows.extend([] for _ in range(row_of[package] + 1 - len(rows)))
        rows[row_of[package]].append(package)
    widest = max(map(len, rows)) * (WIDTH + GAP_X) + GAP_X
    positions = {
        package: (
            (widest - len(row) * (WIDTH + GAP_X) + GAP_X) // 2 + column * (WIDTH + GAP_X),
            GAP_Y // 2 + (len(rows) - 1 - number) * (HEIGHT + GAP_Y),
        )
        for number, row in enumerate(rows)
        for column, package in enumerate(row)
    }
    arrows = [_arrow(positions[one], positions[other]) for one in direct for other in sorted(direct[one])]
    head = _HEAD.format(width=widest, height=len(rows) * (HEIGHT + GAP_Y))
    return (
        head + "".join([*arrows, *(_box(package, *position) for package, position in positions.items())]) + "</svg>\n"
    )


def _direct() -> dict[str, set[str]]:
    """Return the imports between packages that do not follow from others, in the order of `ORDER`."""
    edges = {package: names - LEFT_OUT for package, names in package_edges().items()}
    reached: dict[str, set[str]] = {}
    for package in ORDER:
        reached[package] = edges[package].union(*(reached[each] for each in edges[package]))
    return {
        package: edges[package].difference(*(reached[each] for each in edges[package]))
        for package in ORDER
        if package not in LEFT_OUT
    }


def _box(name: str, x: int, y: int) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#eef2f8" stroke="#7a8290"/>'
        f'<text x="{x + WIDTH // 2}" y="{y + 22}" text-anchor="middle" fill="#1c2330">{name}</text>\n'
    )


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    x1, y1, x2, y2 = start[0] + WIDTH // 2, start[1] + HEIGHT, end[0] + WIDTH // 2, end[1]
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#7a8290" marker-end="url(#arrow)"/>\n'
