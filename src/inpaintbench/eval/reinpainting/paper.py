"""The numbers that "Assessing Image Inpainting via Re-Inpainting Self-Consistency Evaluation" (2024) published, as data."""

from __future__ import annotations

import csv
from functools import lru_cache
from importlib import resources
from types import MappingProxyType

from inpaintbench.eval.reinpainting.engine import OBJECTIVES, SUBMETRICS
from inpaintbench.eval.reinpainting.grid import Cell, Grid

# Axes of Tables 6 to 14 as printed: first methods, F2, bins of first masks, second ratios.
METHODS = ("DeepFillv2", "EdgeConnect", "CoModGAN", "StableDiffusion", "LaMa")
SECONDS = ("StableDiffusion", "LaMa", "DeepFillv2")
FIRSTS = ("0-20%", "20-40%", "40-60%")
RATIOS = ("20%", "40%", "60%")


@lru_cache(maxsize=1)
def published() -> Grid:
    """Tables 6 to 14: 1,215 numbers, as printed, anomalies and all."""
    text = resources.files("inpaintbench.eval.reinpainting").joinpath("paper.csv").read_text()
    values: dict[Cell, float | None] = {}
    for row in csv.DictReader(text.splitlines()):
        for objective in OBJECTIVES:
            for name in SUBMETRICS:
                cell = Cell(row["second"], f"{row['second_ratio']}%", f"{row['first']}%", row["method"], objective, name)
                values[cell] = float(row[f"{name}_{objective.replace('-', '')}"])
    origin = "Published numbers: 100 pictures of Places2 at 512x512, K 10; patch size, SSIM window and LPIPS trunk not stated."
    return Grid(SECONDS, RATIOS, FIRSTS, METHODS, OBJECTIVES, SUBMETRICS, MappingProxyType(values), origin)
