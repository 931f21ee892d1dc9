"""Items of a leaderboard to look at: what every submission made of them, and any two results under a wipe."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from inpaintbench.errors import InputError
from inpaintbench.eval.report.effects import add_proofs, headline
from inpaintbench.eval.report.gallery import Exhibit, add_standouts, make_exhibits
from inpaintbench.eval.report.media import PredictionMedia, how_shown
from inpaintbench.eval.report.page import default_quantity
from inpaintbench.types import Prediction
from inpaintbench.wings.leaderboard.board import Board
from inpaintbench.wings.leaderboard.unpack import take_out
from inpaintbench.workspace import Blobs, Workspace

Clips = list[tuple[Exhibit, bytes]]
"""Items with their videos."""


def clips_of(board: Board, *, root: Path, items: int) -> Clips:
    """The hardest and the most disagreed items by turns, and those that show the headline of a report; as a report chooses them.

    Results are those that submissions brought. They are decoded here: a stranger's files, of submissions that stand.

    Args:
        board: the leaderboard.
        root: folder of its dataset.
        items: how many, besides those of the headline.

    Raises:
        InputError: no submission brought a prediction of them.
    """
    results = board.results
    default = default_quantity(results)
    choices = add_proofs(add_standouts(results, [], default, count=items), headline(results, default))
    rates = {row["item_id"]: float(row["fps"]) for row in results.dataset.items}
    with tempfile.TemporaryDirectory() as folder:
        blobs = Workspace(Path(folder)).blobs
        brought = _taken_out(board, [choice.item_id for choice in choices], blobs)
        if not brought:
            raise InputError("no submission brought predictions to show; `eval submit --predictions` puts them in")
        media = PredictionMedia(root, results.dataset, blobs, brought, protocol=results.protocol)
        return make_exhibits(choices, media, methods=results.methods, rates=rates, **how_shown(results.dataset, results.protocol))


def _taken_out(board: Board, item_ids: Sequence[str], blobs: Blobs) -> list[Prediction]:
    """The predictions of these items, by the labels of the board, with their files."""
    found = []
    for entry in board.entries:
        header = entry.submission.header
        for item_id in item_ids:
            if header.predictions.get(item_id, {}).get("blob") not in entry.submission.blobs:
                continue
            prediction = replace(header.prediction(item_id), method=entry.label)
            target = blobs.path(prediction.blob)
            target.parent.mkdir(parents=True, exist_ok=True)
            # One whose bytes are others than were scored is not shown, like one that was not brought.
            with suppress(InputError):
                take_out(entry.submission, prediction.blob, target)
                found.append(prediction)
    return found
