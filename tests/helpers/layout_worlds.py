"""Small frozen datasets to convert, one a recipe, each built once; and which of them, or which layouts, a test is tried with."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from built import built

from inpaintbench.recipes.stages import SourceSpec

Worlds = Mapping[str, tuple[Any, SourceSpec]]
"""Kind -> recipe and source."""
Tried = Mapping[str, tuple[str, Sequence[Any]]]
"""Test -> its parameters, and what they are."""


def parametrize(metafunc: pytest.Metafunc, tried: Tried) -> None:
    """What a folder tries a test with; tests of wings take the functions of the core, with recipes and layouts of their own."""
    if metafunc.definition.originalname in tried:
        metafunc.parametrize(*tried[metafunc.definition.originalname])


def frozen_of_each(worlds: Worlds) -> Any:
    """The fixture ``frozen_of``: the frozen dataset of a kind, read-only. Worker processes of one run share it."""

    @pytest.fixture(scope="session")
    def frozen_of(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
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
                    recipe, source = worlds[kind]
                    built(shared / kind, recipe, source, workers=0)
            return folder

        return dataset

    return frozen_of


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.fixture(scope="session")
def sha256() -> Callable[[Any], str]:
    """Of the pixels of an array, as the manifest gives it."""
    return lambda pixels: hashlib.sha256(np.ascontiguousarray(pixels).tobytes()).hexdigest()
