"""One small frozen dataset a recipe, built once for all tests here."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from built import built

from inpaintbench.recipes.benchmark import BenchmarkRecipe
from inpaintbench.recipes.removal import RemovalRecipe
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.wings.chalearn.decaption import DecaptionRecipe
from inpaintbench.wings.chalearn.fingerprint import FingerprintRecipe
from inpaintbench.wings.chalearn.humans import HumansRecipe
from inpaintbench.wings.editboard.recipe import EditingRecipe
from inpaintbench.wings.reinpaint.recipe import ReinpaintRecipe

_FINGERS = FingerprintRecipe(fingers=2, impressions=1, law="uniform")
_REMOVAL = RemovalRecipe(size=(96, 80), frames=3)
WORLDS: dict[str, tuple[Any, SourceSpec]] = {
    "humans": (HumansRecipe(), SourceSpec("drawn_people", {"count": 4})),
    "decaption": (
        DecaptionRecipe(side=64),
        SourceSpec("embedded", {"count": 3, "width": 96, "height": 64, "frames": 150}),
    ),
    "fingerprint": (_FINGERS, _FINGERS.source),
    "benchmark": (BenchmarkRecipe(size=(96, 80)), BenchmarkRecipe(size=(96, 80), frames=3).embedded(2)),
    "removal": (_REMOVAL, _REMOVAL.rendered(2)),
    "editing": (EditingRecipe(side=128), SourceSpec("embedded_edits", {"count": 1, "side": 128, "frames": 2})),
    "reinpaint": (
        ReinpaintRecipe(size=64, preset="medium-256", patch_pixels=16, second_masks=2, pictures=2),
        SourceSpec("embedded_photographs", {}),
    ),
}


@pytest.fixture(scope="session")
def frozen_of(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The frozen dataset of a recipe; read-only. Worker processes of one run share it."""
    root = tmp_path_factory.getbasetemp()
    shared = (root.parent if "PYTEST_XDIST_WORKER" in os.environ else root) / "datasets-to-convert"
    shared.mkdir(exist_ok=True)

    def dataset(kind: str) -> Path:
        if kind == "devil":
            return Path(request.getfixturevalue("benchmark")) / "exports" / "devil"  # which other tests have built already
        folder = shared / kind / "exports" / kind
        with (shared / f"{kind}.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "dataset.json").exists():
                recipe, source = WORLDS[kind]
                built(shared / kind, recipe, source, workers=0)
        return folder

    return dataset


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.fixture(scope="session")
def sha256() -> Callable[[Any], str]:
    """Of the pixels of an array, as the manifest gives it."""
    return lambda pixels: hashlib.sha256(np.ascontiguousarray(pixels).tobytes()).hexdigest()
