"""`eval score-folders`: scores of files that belong to no dataset."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

from inpaintbench.cli import console
from inpaintbench.cli.console import AsJson, print_json
from inpaintbench.cli.evaluate_options import Networks, OfNetworks, SomeMetrics
from inpaintbench.cli.options import Among
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.score_arrays import ItemScore, score_folders
from inpaintbench.eval.values.statistics import summarise
from inpaintbench.pages.words import interval, number


def score_folders_command(
    *,
    truth: Path,
    masks: Path,
    predictions: Path,
    protocol: Annotated[str, Among(PROTOCOLS)] = "devil/corrected",
    metric: SomeMetrics = None,
    hole_is_black: bool = False,
    out: Path | None = None,
    as_json: AsJson = False,
    networks: OfNetworks = Networks(),
) -> None:
    """Score files that belong to no dataset, by their names.

    Each name counts as a source of its own. For comparisons, slices and pages build a dataset.

    Args:
        truth: Folder of true clips: videos, pictures, or folders of numbered pictures.
        masks: Folder of their masks, of the same names; white is hole. One picture counts for all frames.
        predictions: Folder of what was made, of the same names.
        protocol (NAME): Its metrics and constants count; `eval list protocols` names them.
        hole_is_black: Black is hole in the masks.
        out: Write the value of each item here, as CSV. [default: nowhere]

    Example: inpaintbench eval score-folders --truth TRUTH --masks MASKS --predictions MINE --metric psnr --metric ssim
    """
    scores = list(
        score_folders(
            truth, masks, predictions, protocol=protocol, metrics=metric, hole_is_black=hole_is_black, compute=networks.compute
        )
    )
    if out is not None:
        with out.open("w", newline="") as file:
            csv.writer(file).writerows([ItemScore._fields, *scores])
    if as_json:
        print_json([score._asdict() for score in scores])
        return
    quantities = dict.fromkeys((score.metric, score.region) for score in scores)
    rows = [_row(scores, *quantity) for quantity in quantities]
    console.print_table(protocol, ["metric", "region", "mean", "95 % interval", "items", "why fewer"], rows)


def _row(scores: list[ItemScore], metric: str, region: str) -> tuple[object, ...]:
    rows = [score for score in scores if (score.metric, score.region) == (metric, region)]
    leaf = METRICS.get(metric)
    summary = summarise([row.value for row in rows], clusters=[row.item for row in rows], bounds=leaf.bounds)
    reasons = dict.fromkeys(row.reason for row in rows if row.reason)
    limits = interval(summary.interval_low, summary.interval_high, leaf.decimals)
    return metric, region, number(summary.mean, leaf.decimals), limits, summary.n, "; ".join(reasons)
