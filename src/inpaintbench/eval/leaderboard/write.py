"""Write the site: all of it or nothing."""

from __future__ import annotations

from pathlib import Path

from inpaintbench.errors import InputError
from inpaintbench.eval.leaderboard.board import Board
from inpaintbench.eval.leaderboard.downloads import board_csv, board_json
from inpaintbench.eval.leaderboard.method_page import method_pages
from inpaintbench.eval.leaderboard.pages import CSV, JSON, slice_pages
from inpaintbench.workspace import replacing

_FRONT = "index.html"


def write_site(folder: Path, board: Board, *, title: str | None = None, introduction: str = "") -> Path:
    """Write a folder of pages that open from disk and from any web host, without scripts from elsewhere and without a network.

    The folder is made beside its place and moved there when it is whole; an earlier site in its place goes away. Equal input
    gives equal bytes.

    Args:
        folder: where the site goes.
        board: what it shows.
        title: over the first page; the dataset's name by default.
        introduction: a sentence below it.

    Returns:
        The first page.

    Raises:
        InputError: the folder holds something else.
        WorkspaceError: it cannot be written.
    """
    folder = folder.absolute()
    if folder.exists() and not (folder.is_dir() and (not any(folder.iterdir()) or (folder / JSON).is_file())):
        raise InputError(f"{str(folder)!r} holds something else than a leaderboard; choose another folder")
    named = title or f"{board.results.dataset.name} leaderboard"
    files = {
        **slice_pages(board, title=named, notes=introduction),
        **method_pages(board, title=named),
        CSV: board_csv(board),
        JSON: board_json(board, title=named),
    }
    with replacing(folder, what="leaderboard ") as made:
        for name, data in files.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_bytes(data)
    return folder / _FRONT
