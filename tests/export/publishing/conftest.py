"""A small frozen dataset, and a Hub on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import datasets
import huggingface_hub.constants
import pytest
from hub_server import TOKEN, HubServer
from publishing_data import make_dataset


@pytest.fixture(scope="session")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("small"))


@pytest.fixture
def small(_made: Path, tmp_path: Path) -> Path:
    """A copy of it, with one source of a known licence and two without."""
    return Path(shutil.copytree(_made, tmp_path / "small"))


@pytest.fixture(autouse=True)
def _with_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests, and the rater's app, want these libraries without one; they read their environment when they are imported."""
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    with HubServer() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
        # The library reads its environment when it is imported.
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub-cache"))
        yield server


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were to be slept, one after the other; nobody sleeps."""
    asked: list[float] = []
    monkeypatch.setattr("time.sleep", asked.append)
    return asked


@pytest.fixture
def one_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """`verify` without a second decoder, whose own start takes ten times as long as these three clips."""
    monkeypatch.setattr("inpaintbench.export.verify.available", list)
