"""Write the folder of an alignment."""

from __future__ import annotations

import re
from pathlib import Path

from inpaintbench.errors import InputError
from inpaintbench.eval.alignment import files, plots
from inpaintbench.eval.alignment.align import Alignment
from inpaintbench.eval.alignment.page import render
from inpaintbench.workspace import write_atomically

PAGE = "alignment.html"
_TABLES = "matching|correlations|win_ratios|raters|slices|comparisons|selection"
_OURS = re.compile(rf"alignment\.(html|json|md)|({_TABLES})\.csv|(rates|scatter)-\d+-[A-Za-z0-9_.-]*\.svg")


def write_alignment(folder: Path, found: Alignment) -> Path:
    """Write a page, tables as CSV, all of it as JSON and Markdown, and figures as SVG; equal input gives equal bytes.

    An earlier alignment in the folder is replaced; its page goes first and the new one comes last: where it is, it is whole.

    Returns:
        The path of the page.

    Raises:
        InputError: the folder holds something else than an alignment.
    """
    if folder.exists() and not (folder.is_dir() and all(_is_ours(path) for path in folder.iterdir())):
        raise InputError(f"{str(folder)!r} holds something else than an alignment; choose another folder")
    data = {**files.tables(found), "alignment.json": files.as_json(found), "alignment.md": files.as_markdown(found)}
    figures = {dimension.name: _figures(place, found) for place, dimension in enumerate(found.dimensions)}
    page = render(found, figures, list(data)).encode()
    folder.mkdir(parents=True, exist_ok=True)
    for path in [folder / PAGE, *folder.iterdir()]:
        path.unlink(missing_ok=True)
    drawn = {name: svg.encode() for of in figures.values() for name, svg in of.items()}
    for name, content in {**data, **drawn, PAGE: page}.items():
        write_atomically(folder / name, content)
    return folder / PAGE


def _figures(place: int, found: Alignment) -> dict[str, str]:
    dimension = found.dimensions[place]
    if not dimension.lines:
        return {}
    name = f"{place + 1}-{re.sub(r'[^A-Za-z0-9_.-]', '_', dimension.name)[:80]}.svg"
    drawn = {f"rates-{name}": plots.rates_figure(dimension)}
    if any(one.points for one in dimension.lines):
        drawn[f"scatter-{name}"] = plots.scatter_figure(dimension)
    return drawn


def _is_ours(path: Path) -> bool:
    return path.is_file() and _OURS.fullmatch(path.name) is not None
