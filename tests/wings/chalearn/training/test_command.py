"""`eval train`, in this process."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from inpaintbench.cli.options import expanded
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.wings.chalearn.commands import train

pytest.importorskip("torch", reason="PyTorch is not installed")
app = typer.Typer()
app.command()(expanded(train))


def call(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False, env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done.stdout


def test_trains_and_says_what_it_came_to(films: Path, tmp_path: Path) -> None:
    words = (films, "patch_autoencoder", "--out", tmp_path / "n", "--steps", 2, "--set", "width=2", "--set", "batch=2")
    told = call(*words, "--device", "cpu", "--seed", 3)
    assert "patch_autoencoder: 2 steps on" in told
    assert {path.name for path in (tmp_path / "n").iterdir()} == {
        "network.pt", "network.json", "training.pt", "losses.csv", "losses.svg",
    }  # fmt: skip
    assert "3 steps on" in call(
        "patch_autoencoder", films, *words[2:4], "--steps", 3, *words[6:], "--device", "cpu", "--seed", 3, "--minutes", 5
    )


def test_what_cannot_be_is_refused(films: Path, prints: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'patch_autoencoder'"):
        call(films, "patch_autoencode", "--out", tmp_path, "--steps", 1)
    with pytest.raises(InputError, match="--minutes is 0"):
        call(films, "patch_autoencoder", "--out", tmp_path, "--minutes", 0)
    with pytest.raises(InputError, match="'width' is not NAME=VALUE"):
        call(films, "patch_autoencoder", "--out", tmp_path, "--steps", 1, "--set", "width")
    with pytest.raises(InputError, match="is not a frozen dataset"):
        call(tmp_path, "patch_autoencoder", "--out", tmp_path / "n", "--steps", 1)
    with pytest.raises(InputError, match="is of 'decaption'"):
        call(prints, "residual_encoder", "--evaluated", films, "--out", tmp_path / "n", "--steps", 1)
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("")
    for out, words in (
        (films, "lies in the dataset that is learnt from"),
        (films / "truth" / "n", "lies in the dataset that is learnt from"),
        (tmp_path / "full", "holds something else than a training"),
        (tmp_path / "file", "cannot be written: File exists"),
    ):
        with pytest.raises(InputError, match=words):
            call(films, "patch_autoencoder", "--out", out, "--steps", 1, "--set", "width=2")
