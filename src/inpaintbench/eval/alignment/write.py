"""Write the folder of an alignment."""

from __future__ import annotations

import re
from pathlib import Path

import altair

from inpaintbench.errors import InputError
from inpaintbench.eval.alignment import files, plots
from inpaintbench.eval.alignment.align import Alignment
from inpaintbench.eval.alignment.page import render
from inpaintbench.pages import save_chart
from inpaintbench.workspace import replacing

PAGE = "alignment.html"
_TABLES = "matching|correlations|win_ratios|raters|slices|comparisons|selection"
_OURS = re.compile(rf"alignment\.(html|json|md)|({_TABLES})\.csv|(rates|scatter)-\d+-[A-Za-z0-9_.-]*\.(svg|pdf)")


def write_alignment(folder: Path, found: Alignment) -> Path:
    """Write a page, tables as CSV, all of it as JSON and Markdown, and figures as SVG and PDF.

    Equal input gives equal bytes. An earlier alignment in the folder is replaced as a whole.

    Returns:
        The path of the page.

    Raises:
        InputError: the folder holds something else than an alignment.
    """
    if folder.exists() and not (folder.is_dir() and all(_is_ours(path) for path in folder.iterdir())):
        raise InputError(f"{str(folder)!r} holds something else than an alignment; choose another folder")
    data = {**files.tables(found), "alignment.json": files.as_json(found), "alignment.md": files.as_markdown(found)}
    figures = {dimension.name: _figures(place, found) for place, dimension in enumerate(found.dimensions)}
    text = render(found, figures, list(data))
    with replacing(folder, what="alignment ") as made:
        (made / PAGE).write_text(text, encoding="utf-8")
        for name, content in data.items():
            (made / name).write_bytes(content)
        for charts in figures.values():
            for name, chart in charts.items():
                for kind in ("svg", "pdf"):
                    save_chart(chart, made / f"{name}.{kind}")
    return folder / PAGE


def _figures(place: int, found: Alignment) -> dict[str, altair.TopLevelMixin]:
    """Name -> chart."""
    dimension = found.dimensions[place]
    if not dimension.lines:
        return {}
    name = f"{place + 1}-{re.sub(r'[^A-Za-z0-9_.-]', '_', dimension.name)[:80]}"
    drawn: dict[str, altair.TopLevelMixin] = {f"rates-{name}": plots.rates_figure(dimension)}
    if any(one.points for one in dimension.lines):
        drawn[f"scatter-{name}"] = plots.scatter_figure(dimension)
    return drawn


def _is_ours(path: Path) -> bool:
    return path.is_file() and _OURS.fullmatch(path.name) is not None
