"""Write the folder of a transcript."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from inpaintbench.errors import InputError
from inpaintbench.eval.editboard import files, plots
from inpaintbench.eval.editboard.page import render
from inpaintbench.eval.editboard.transcript import Transcript
from inpaintbench.pages import save_chart
from inpaintbench.workspace import replacing

PAGE = "transcript.html"
DATA = ("transcript.csv", "transcript.md", "transcript.json", "edits.csv", "edits.json")
_FIGURES = ("radar.svg", "radar.pdf", "execution_fidelity.svg", "execution_fidelity.pdf")
_OURS = {PAGE, *DATA, *_FIGURES}


def write_transcript(folder: Path, found: Transcript, *, more: Mapping[str, bytes] | None = None) -> Path:
    """Write the transcript as a page, Markdown, CSV and JSON, and its figures as SVG and PDF.

    Equal input gives equal bytes. An earlier transcript in the folder is replaced as a whole.

    Args:
        folder: made where it is not there.
        found: the transcript.
        more: further files by name, of those in ``DATA``.

    Returns:
        The path of the page.

    Raises:
        InputError: the folder holds something else than a transcript.
    """
    if folder.exists() and not (folder.is_dir() and {path.name for path in folder.iterdir()} <= _OURS):
        raise InputError(f"{str(folder)!r} holds something else than a transcript; choose another folder")
    tables = {
        "transcript.csv": files.as_csv(found), "transcript.md": files.as_markdown(found),
        "transcript.json": files.as_json(found), **(more or {}),
    }  # fmt: skip
    drawn = {"radar": plots.radar_figure(found), "execution_fidelity": plots.trade_off_figure(found)}
    figures = {name: chart for name, chart in drawn.items() if chart is not None}
    text = render(found, figures, list(tables))
    with replacing(folder, what="transcript ") as made:
        (made / PAGE).write_text(text, encoding="utf-8")
        for name, data in tables.items():
            (made / name).write_bytes(data)
        for name, chart in figures.items():
            for kind in ("svg", "pdf"):
                save_chart(chart, made / f"{name}.{kind}")
    return folder / PAGE
