"""Draws a plot as SVG: a bar for each row, on a logarithmic scale on which 1 is the target."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINE, _LABELS, _WIDTH, _TOP = 20, 560, 1_000, 34
_WITHIN, _BEYOND = "#3a7ca5", "#d1603d"  # told apart also by who sees no red or green
_LEAST = 1e-3  # shorter bars are drawn like this one


def bars(rows: Sequence[tuple[str, str, float]]) -> str:
    """Return an SVG of the rows: a name, what it is compared with, and the ratio as a share of its target."""
    shares = [max(share, _LEAST) for _, _, share in rows] or [1.0]
    low, high = math.log10(min(*shares, 0.1)), math.log10(max(*shares, 10.0))
    scale = (_WIDTH - _LABELS - 50) / (high - low)

    def x(share: float) -> float:
        return _LABELS + (math.log10(share) - low) * scale

    height = _TOP + _LINE * len(rows) + 10
    box = f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="11"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img" aria-label="ratios as shares of their targets">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for power in range(math.floor(low), math.ceil(high) + 1):
        at = x(10.0**power)
        if _LABELS <= at <= _WIDTH:
            word = f"{10.0**power:g} of the target"
            lines.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP - 6}" y2="{height - 6}" stroke="#dddddd"/>')
            lines.append(f'<text x="{at:.1f}" y="{_TOP - 12}" text-anchor="middle">{word}</text>')
    for number, (name, reference, share) in enumerate(rows):
        y, end = _TOP + _LINE * number, x(max(share, _LEAST))
        start, end = sorted((x(1.0), end))
        label = escape(_cut(f"{name} / {reference}"))
        lines.append(f'<text x="{_LABELS - 8}" y="{y + 13}" text-anchor="end">{label}</text>')
        color = _WITHIN if share <= 1 else _BEYOND
        lines.append(
            f'<rect x="{start:.1f}" y="{y + 3}" width="{max(end - start, 1):.1f}" height="13" fill="{color}"/>'
        )
        lines.append(f'<text x="{max(end, x(1.0)) + 5:.1f}" y="{y + 13}">{share:.2g}</text>')
    lines.append(f'<line x1="{x(1):.1f}" x2="{x(1):.1f}" y1="{_TOP - 6}" y2="{height - 6}" stroke="#222222"/>')
    return "\n".join((*lines, "</svg>\n"))


def _cut(text: str, most: int = 96) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
