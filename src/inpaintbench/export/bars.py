"""Horizontal bars as one small SVG file, in the style of ``histogram``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inpaintbench.errors import InputError
from inpaintbench.export.histogram import GROUND, ONE_GROUP, STYLE, colour, svg_text

_WIDTH = 640
_TOP, _BOTTOM, _RIGHT = 62, 16, 64
_LINE, _BAR = 22, 14
_LETTER = 6.9
_LONGEST = 34


def bars_svg(counts: Mapping[str, Mapping[str, int]], *, title: str, unit: str) -> str:
    """Bars of counts, one a name and stacked by group, as the text of an SVG file 640 wide and as high as there are names.

    It brings its own light ground, so that it reads on white and on dark pages.

    Args:
        counts: name -> group -> count, at least 0; one group draws one colour and no legend.
        title: of the plot.
        unit: what is counted, in the plural.

    Raises:
        InputError: no names, or a count below 0.
    """
    if not counts or any(count < 0 for groups in counts.values() for count in groups.values()):
        raise InputError(f"bars need names with counts of 0 or more, not {dict(counts)}")
    groups = list(dict.fromkeys(group for of in counts.values() for group in of))
    left = 30 + _LETTER * min(_LONGEST, max(map(len, counts)))
    longest = max(max(sum(of.values()) for of in counts.values()), 1)
    height = _TOP + _LINE * len(counts) + _BOTTOM
    rows = [
        _row(name, of, groups, y=_TOP + _LINE * place, left=left, step=(_WIDTH - left - _RIGHT) / longest)
        for place, (name, of) in enumerate(counts.items())
    ]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img">',
        f"<title>{svg_text(title)}</title><style>{STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{height}" rx="8" {GROUND}/>',
        f'<text class="title" x="20" y="28">{svg_text(title)}</text>',
        _legend(groups) if len(groups) > 1 else f'<text x="20" y="47">{svg_text(unit)}</text>',
        *rows,
        "</svg>",
    ]
    return "".join(parts) + "\n"


def _row(name: str, of: Mapping[str, int], groups: Sequence[str], *, y: float, left: float, step: float) -> str:
    shown = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    pieces = [f'<text x="{left - 8:.1f}" y="{y + 11}" text-anchor="end">{svg_text(shown)}</text>']
    x = left
    for place, group in enumerate(groups):
        if not (count := of.get(group, 0)):
            continue
        fill = colour(place) if len(groups) > 1 else ONE_GROUP
        words = f"{name}: {count:,} {group}".strip()
        pieces.append(
            f'<rect class="bar" x="{x:.2f}" y="{y}" width="{count * step:.2f}" height="{_BAR}" fill="{fill}">'
            f"<title>{svg_text(words)}</title></rect>"
        )
        x += count * step
    total = sum(of.values())
    return "".join(pieces) + f'<text class="strong" x="{x + 6:.2f}" y="{y + 11}">{total:,}</text>'


def _legend(groups: Sequence[str]) -> str:
    pieces, x = [], 20.0
    for place, group in enumerate(groups):
        pieces.append(
            f'<rect x="{x:.1f}" y="38" width="10" height="10" rx="2" fill="{colour(place)}"/>'
            f'<text x="{x + 15:.1f}" y="47">{svg_text(group)}</text>'
        )
        x += 30 + 7.2 * len(group)
    return "".join(pieces)
