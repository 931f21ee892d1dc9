"""Write the folder of a transcript."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from inpaintbench.errors import InputError
from inpaintbench.eval.editboard import files, plots
from inpaintbench.eval.editboard.page import render
from inpaintbench.eval.editboard.transcript import Transcript
from inpaintbench.workspace import write_atomically

PAGE = "transcript.html"
DATA = ("transcript.csv", "transcript.md", "transcript.json", "edits.csv", "edits.json")
_FIGURES = ("radar.svg", "execution_fidelity.svg")
_OURS = {PAGE, *DATA, *_FIGURES}


def write_transcript(folder: Path, found: Transcript, *, more: Mapping[str, bytes] | None = None) -> Path:
    """Write the transcript as a page, Markdown, CSV and JSON, and its figures as SVG; equal input gives equal bytes.

    An earlier transcript in the folder is replaced; its page goes first and the new one comes last: where it is, it is whole.

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
    drawn = dict(zip(_FIGURES, (plots.radar_figure(found), plots.trade_off_figure(found)), strict=True))
    figures = {name: figure for name, figure in drawn.items() if figure}
    page = render(found, figures, list(tables)).encode()
    folder.mkdir(parents=True, exist_ok=True)
    for path in [folder / PAGE, *folder.iterdir()]:
        path.unlink(missing_ok=True)
    for name, data in {**tables, **{name: figure.encode() for name, figure in figures.items()}, PAGE: page}.items():
        write_atomically(folder / name, data)
    return folder / PAGE
