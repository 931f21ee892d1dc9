"""Small datasets of tracks 2 and 3, and the three networks trained on them for a moment."""

from __future__ import annotations

from pathlib import Path

import pytest
from built import built
from tests.wings.chalearn.training.made import STEPS, Learnt

from inpaintbench import frozen
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.wings.chalearn.decaption import DecaptionRecipe
from inpaintbench.wings.chalearn.fingerprint import FingerprintRecipe
from inpaintbench.wings.chalearn.training.networks import NETWORKS
from inpaintbench.wings.chalearn.training.train import Limits, train

SPLITS = {"train": 0.6, "test": 0.4}


@pytest.fixture(scope="session")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a frozen dataset of clips with subtitles, 32x32."""
    source = SourceSpec("embedded", {"count": 24, "width": 48, "height": 32, "frames": 10})
    recipe = DecaptionRecipe(side=32, clip_frames=4, covered_share=0.5, splits=SPLITS)
    return built(tmp_path_factory.mktemp("films") / "workspace", recipe, source, workers=0)[1]


@pytest.fixture(scope="session")
def prints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a frozen dataset of degraded fingerprints, 137x160."""
    recipe = FingerprintRecipe(fingers=20, law="uniform", splits=SPLITS, width=137, height=160)
    return built(tmp_path_factory.mktemp("prints") / "workspace", recipe, recipe.source, workers=0)[1]


@pytest.fixture(scope="session")
def learnt(films: Path, prints: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Learnt]:
    """Each network, trained on the split "train" of its dataset."""
    pytest.importorskip("torch")
    folder, found = tmp_path_factory.mktemp("networks"), {}
    for name, (steps, settings) in STEPS.items():
        root = films if NETWORKS[name].recipe == "decaption" else prints
        limits = Limits(steps=steps)
        trained = train(
            NETWORKS[name], frozen.load(root), root=root, folder=folder / name, limits=limits, settings=settings, device="cpu"
        )
        found[name] = Learnt(root, trained)
    return found
