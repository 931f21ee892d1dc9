"""Write the folder of an analysis."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import altair

from inpaintbench.errors import InputError
from inpaintbench.eval.analysis import files, plots
from inpaintbench.eval.analysis.means import Means
from inpaintbench.eval.analysis.page import render
from inpaintbench.pages import save_chart
from inpaintbench.workspace import replacing

PAGE = "analysis.html"
_OURS = re.compile(r"(table_[12]|figure_[34]|improvement(-[a-z]+-.+)?)\.(csv|md|svg|pdf)|analysis\.json", re.DOTALL)


@dataclass(frozen=True)
class AnalysisFiles:
    """Where the parts of an analysis lie."""

    page: Path
    """One HTML file that needs no network."""
    tables: tuple[Path, ...]
    """CSV and Markdown."""
    figures: tuple[Path, ...]
    """SVG; each is there as PDF too."""


def write_analysis(folder: Path, means: Means) -> AnalysisFiles:
    """Write tables as CSV and Markdown, figures as SVG and PDF, and a page that holds them all.

    Equal input gives equal bytes.

    An earlier analysis in the folder is replaced as a whole.

    Raises:
        InputError: there is nothing to analyse, or the folder holds something else than an analysis.
    """
    if not (means.methods and means.slices and means.measures):
        raise InputError("there is nothing to analyse: no slice has a score")
    if folder.exists() and not (folder.is_dir() and _is_ours(folder)):
        raise InputError(f"{str(folder)!r} holds something else than an analysis; choose another folder")
    tables, charts = table_files(means), figure_charts(means)
    text = render(means, charts)
    with replacing(folder, what="analysis ") as made:
        (made / PAGE).write_text(text, encoding="utf-8")
        for name, data in tables.items():
            (made / name).write_bytes(data)
        for name, chart in charts.items():
            for kind in ("svg", "pdf"):
                save_chart(chart, made / f"{name}.{kind}")
    return AnalysisFiles(folder / PAGE, tuple(folder / name for name in tables), tuple(folder / f"{name}.svg" for name in charts))


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


def figure_charts(means: Means) -> dict[str, altair.ConcatChart]:
    """Name -> chart, in the order of the paper; figures of improvement only where an attribute has both slices."""
    drawn = {"figure_3": plots.methods_figure(means), "figure_4": plots.difficulty_figure(means)}
    drawn |= {f"improvement-attribute-{_safe(pair.attribute)}": plots.attribute_figure(means, pair) for pair in means.pairs}
    measures = means.ranked_measures if means.pairs else ()
    return drawn | {f"improvement-metric-{one.key}": plots.metric_figure(means, one) for one in measures}


def _is_ours(folder: Path) -> bool:
    """Whether a folder holds nothing but files of an analysis; an empty one does."""
    return all(path.is_file() and (path.name == PAGE or _OURS.fullmatch(path.name)) for path in folder.iterdir())


def _safe(name: str) -> str:
    """A name as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)
