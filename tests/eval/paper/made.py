"""Scores of four methods by five metrics on pairs of items, as a paper has them, made by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from tests.eval.report.diagnosed import decibels_of, paired_dataset
from tests.eval.report.hand_made import FINGERPRINT, FlatMedia, scores

from inpaintbench.eval.paper.tables import Asked, Cost, default_quantities
from inpaintbench.eval.paper.write import Source, write_paper
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.effort import Effort
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.types import Dataset, Score, SliceScore

CORRECTED = PROTOCOLS.get("devil/corrected")
METHODS = ("telea", "temporal_median", "affine_propagation", "my_method")
FLOOR = "blank"
METRICS = ("psnr", "ssim", "mse", "lpips", "fid")


def dataset(*, sources: str = "abcdef") -> Dataset:
    """The pairs of ``diagnosed``, of some sources, with licences."""
    whole = paired_dataset()
    chosen = [row for row in whole.items if row["source_id"] in sources]
    licences = {"a": "CC-BY-4.0"}
    rows = tuple({**row, "truth_file_name": "truth.mp4", "licence": licences.get(row["source_id"])} for row in chosen)
    there = {row["item_id"] for row in rows}
    slices = tuple(replace(one, item_ids=tuple(item for item in one.item_ids if item in there)) for one in whole.slices)
    return replace(whole, items=rows, slices=slices, name="pairs_& 100 %", manifest_sha256="ab" * 32)


@cache
def results(*, sources: str = "abcdef") -> Results:
    """PSNR as ``diagnosed`` has it; errors and similarities that follow from it, an infinite and a missing one, and sets."""
    made = dataset(sources=sources)
    there = [row["item_id"] for row in made.items]
    known = decibels_of((*METHODS, FLOOR))

    def of_metric(metric: str, change: Callable[[float], float | None], *, region: str = "hole") -> list[Score]:
        values = {name: {item: change(value) for item, value in of.items() if item in there} for name, of in known.items()}
        return scores(values, metric=metric, region=region)

    ssim = of_metric("ssim", lambda value: 1 - 10 ** (-value / 20))
    lost = next(place for place, one in enumerate(ssim) if one.method == "my_method")
    ssim[lost] = replace(ssim[lost], value=None, reason="the program ended with status 3")
    rows = [
        *of_metric("psnr", lambda value: value),
        *of_metric("mse", lambda value: 10 ** (-value / 10)),
        *ssim,
        *of_metric("lpips", lambda value: 10 ** (-value / 20)),
        *(replace(one, reason=None, features="v" * 64) for one in of_metric("fid", lambda value: None, region="frame")),
    ]
    facts = {"n": 300, "d": 2048, "items": len(there), "missing": 0}
    sets = [
        SliceScore(name, part, "fid", "frame", CORRECTED.name, FINGERPRINT, 12.5 + at, None, 0.25, 12.0 + at, math.inf, facts)
        for at, name in enumerate(known)
        for part in ("all items", *(one.name for one in made.slices))
    ]  # fmt: skip
    return Results(made, rows, protocol=CORRECTED, slice_scores=sets, references=[FLOOR])


def source(of: Results) -> Source:
    """Times that differ a thousandfold, a network of one of them, and frames that tell their number."""
    efforts = {name: Effort(items=24, seconds_a_frame=10.0**-place, peak_mebibytes=700 + place, machine="2 cores")
               for place, name in enumerate(METHODS)}  # fmt: skip
    asked = Asked(default_quantities(of), efforts, {"my_method": Cost(51_200_000, 3.25e9)})
    specs = [MethodSpec("telea", "telea", {"radius_pixels": 3.0}), MethodSpec("my_method", "command", {"folder": "/home/ann"})]
    return Source(FlatMedia(absent=("affine_propagation",)), asked, specs, {"my_method": "1.2"})


def paper(folder: Path, *, sources: str = "abcdef", style: str = "cvpr") -> Path:
    """The archive of a paper in ``folder``."""
    of = results(sources=sources)
    return write_paper(folder, of, source(of), style=style)
