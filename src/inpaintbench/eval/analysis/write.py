"""Write the folder of an analysis."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from inpaintbench.errors import InputError
from inpaintbench.eval.analysis import files, plots
from inpaintbench.eval.analysis.means import Means
from inpaintbench.eval.analysis.page import render
from inpaintbench.workspace import write_atomically

PAGE = "analysis.html"
_OURS = re.compile(r"(table_[12]|figure_[34]|improvement(-[a-z]+-.+)?)\.(csv|md|svg)|analysis\.json", re.DOTALL)


@dataclass(frozen=True)
class AnalysisFiles:
    """Where the parts of an analysis lie."""

    page: Path
    """One HTML file that needs no network."""
    tables: tuple[Path, ...]
    """CSV and Markdown."""
    figures: tuple[Path, ...]
    """SVG."""


def write_analysis(folder: Path, means: Means) -> AnalysisFiles:
    """Write tables as CSV and Markdown, figures as SVG, and a page that holds them all; equal input gives equal bytes.

    An earlier analysis in the folder is replaced; its page goes first and the new one comes last: where it is, it is whole.

    Raises:
        InputError: there is nothing to analyse, or the folder holds something else than an analysis.
    """
    if not (means.methods and means.slices and means.measures):
        raise InputError("there is nothing to analyse: no slice has a score")
    if folder.exists() and not (folder.is_dir() and _is_ours(folder)):
        raise InputError(f"{str(folder)!r} holds something else than an analysis; choose another folder")
    tables, figures = table_files(means), figure_files(means)
    page = render(means, figures).encode()
    folder.mkdir(parents=True, exist_ok=True)
    for path in [folder / PAGE, *folder.iterdir()]:
        path.unlink(missing_ok=True)
    for name, data in {**tables, **{name: drawn.encode() for name, drawn in figures.items()}, PAGE: page}.items():
        write_atomically(folder / name, data)
    return AnalysisFiles(folder / PAGE, tuple(folder / name for name in tables), tuple(folder / name for name in figures))


def table_files(means: Means) -> dict[str, bytes]:
    """Name -> bytes."""
    return {
        "analysis.json": files.analysis_json(means),
        "table_1.csv": files.table_1_csv(means),
        "table_1.md": files.table_1_markdown(means),
        "table_2.csv": files.table_2_csv(means),
        "table_2.md": files.table_2_markdown(means),
        "figure_3.csv": files.figure_3_csv(means),
        "figure_4.csv": files.figure_4_csv(means),
        "improvement.csv": files.improvement_csv(means),
        "improvement.md": files.improvement_markdown(means),
    }


def figure_files(means: Means) -> dict[str, str]:
    """Name -> SVG, in the order of the paper; figures of improvement only where an attribute has both slices."""
    drawn = {"figure_3.svg": plots.methods_figure(means), "figure_4.svg": plots.difficulty_figure(means)}
    drawn |= {f"improvement-attribute-{_safe(pair.attribute)}.svg": plots.attribute_figure(means, pair) for pair in means.pairs}
    measures = means.ranked_measures if means.pairs else ()
    return drawn | {f"improvement-metric-{one.key}.svg": plots.metric_figure(means, one) for one in measures}


def _is_ours(folder: Path) -> bool:
    """Whether a folder holds nothing but files of an analysis; an empty one does."""
    return all(path.is_file() and (path.name == PAGE or _OURS.fullmatch(path.name)) for path in folder.iterdir())


def _safe(name: str) -> str:
    """A name as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)
