"""Training: what it comes to, that it repeats, goes on, and refuses what it should not learn from."""

from __future__ import annotations

import csv
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.wings.chalearn.training.made import LEAVES, STEPS, Learnt

from inpaintbench import frozen
from inpaintbench.errors import InputError, NotMeasurable, RunError, UnknownNameError
from inpaintbench.eval.scoring import predict
from inpaintbench.types import Dataset, Frames
from inpaintbench.wings.chalearn.training.networks import NETWORKS, named
from inpaintbench.wings.chalearn.training.train import Limits, chosen_items, train

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
SMALL = {"width": 2, "batch": 2}


def mse(one: Frames, other: Frames) -> float:
    return float(((one / 255 - other / 255) ** 2).mean())


@pytest.mark.long
@pytest.mark.parametrize("name", list(STEPS))
def test_a_moment_of_training_beats_the_input_on_held_out_items(learnt: dict[str, Learnt], name: str) -> None:
    root, trained = learnt[name]
    leaf = LEAVES[name](checkpoint=str(trained.folder), device="cpu")
    copied, found = [], []
    for row in frozen.load(root).items:
        view, truth = frozen.input_view(root, row), frozen.truth_and_hole(root, row)[0]
        if row["split"] == "train":
            with pytest.raises(NotMeasurable, match="has learnt from this item"):
                predict.run(leaf, view)
        else:
            copied.append(mse(view.input, truth))
            found.append(mse(predict.run(leaf, view), truth))
    assert len(found) >= 3
    assert np.mean(found) < 0.9 * np.mean(copied)


@pytest.mark.long
def test_the_classifier_tells_patches_with_text(learnt: dict[str, Learnt]) -> None:
    """Of held-out frames most are told right, and more than by one answer for all."""
    root, trained = learnt["patch_autoencoder"]
    rows = [row for row in frozen.load(root).items if row["split"] == "test"]
    leaf = LEAVES["patch_autoencoder"](checkpoint=str(trained.folder), device="cpu")
    replaced, text = [], []
    for row in rows:
        view, (_, hole) = frozen.input_view(root, row), frozen.truth_and_hole(root, row)
        replaced += list((predict.run(leaf, view) != view.input).any(axis=(1, 2, 3)))
        text += list(hole.any(axis=(1, 2)))
    assert np.mean(np.equal(replaced, text)) >= max(np.mean(text), 1 - np.mean(text))


@pytest.mark.long
@pytest.mark.parametrize("name", list(STEPS))
def test_files_say_what_was_learnt(learnt: dict[str, Learnt], name: str) -> None:
    root, trained = learnt[name]
    facts = json.loads((trained.folder / "network.json").read_text())
    steps, settings = STEPS[name]
    assert facts["network"] == name
    assert facts["steps"] == trained.steps == steps
    assert facts["settings"] == {**NETWORKS[name].settings, **settings}
    assert facts["seed"] == 0
    assert facts["versions"]["torch"] == torch.__version__
    assert facts["items"] == sorted(row["item_id"] for row in frozen.load(root).items if row["split"] == "train")
    with (trained.folder / "losses.csv").open() as file:
        rows = list(csv.DictReader(file))
    losses = [float(row["loss"]) for row in rows]
    assert [int(row["step"]) for row in rows] == list(range(1, steps + 1))
    assert np.mean(losses[-10:]) < np.mean(losses[:10])
    assert trained.loss == pytest.approx(np.mean(losses[-(steps // 10) :]), rel=1e-6)
    assert (trained.folder / "losses.svg").read_text().startswith("<svg")


class KilledError(Exception):
    pass


@pytest.mark.parametrize("name", ["patch_autoencoder", "residual_encoder"])
def test_the_same_bytes_again_and_after_a_kill(films: Path, prints: Path, tmp_path: Path, name: str) -> None:
    root = films if NETWORKS[name].recipe == "decaption" else prints
    dataset = frozen.load(root)

    def go(folder: Path, steps: int, **more: Any) -> bytes:
        train(named(name), dataset, root=root, folder=folder, limits=Limits(steps=steps), settings=SMALL, device="cpu", **more)
        return (folder / "network.pt").read_bytes()

    def kill(steps: int, seconds: float) -> None:
        if steps == 2:
            raise KilledError

    whole = go(tmp_path / "whole", 4, seed=5)
    with pytest.raises(KilledError):
        go(tmp_path / "killed", 4, seed=5, told=kill, save_seconds=0)
    assert go(tmp_path / "killed", 4, seed=5) == whole
    assert (tmp_path / "killed" / "losses.csv").read_bytes() == (tmp_path / "whole" / "losses.csv").read_bytes()
    assert go(tmp_path / "other", 4, seed=6) != whole
    (tmp_path / "whole" / "network.pt").write_bytes(whole[:100])  # what a kill could leave is mended by the same words
    assert go(tmp_path / "whole", 4, seed=5) == whole


def small(root: Path, folder: Path, **more: Any) -> None:
    given = {"limits": Limits(steps=1), "settings": SMALL, "device": "cpu"} | more
    train(named("frame_autoencoder"), frozen.load(root), root=root, folder=folder, **given)


def test_a_folder_of_another_training_is_refused(films: Path, tmp_path: Path) -> None:
    small(films, tmp_path)
    for more, words in (
        ({"seed": 1}, "whose seed is 0, not 1"),
        ({"settings": {"width": 3, "batch": 2}}, "whose settings is {'width': 2"),
    ):
        with pytest.raises(InputError, match=words):
            small(films, tmp_path, **more)
    kept = (tmp_path / "training.pt").read_bytes()
    (tmp_path / "training.pt").write_bytes(kept[: len(kept) // 2])
    with pytest.raises(InputError, match=r"training\.pt' cannot be read, delete it to begin anew"):
        small(films, tmp_path)


def test_a_state_with_code_in_it_is_not_run(films: Path, tmp_path: Path) -> None:
    torch.save({"network": Touch(tmp_path / "run")}, tmp_path / "training.pt")
    with pytest.raises(InputError, match="holds more than a training, or is damaged; it is not read"):
        small(films, tmp_path)
    assert not (tmp_path / "run").exists()


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_minutes_end_a_training_after_one_step_at_least(films: Path, tmp_path: Path) -> None:
    small(films, tmp_path, limits=Limits(minutes=1e-9))
    small(films, tmp_path, limits=Limits(minutes=1e-9))
    assert json.loads((tmp_path / "network.json").read_text())["steps"] == 1
    with pytest.raises(InputError, match="give --steps, --minutes or both"):
        small(films, tmp_path, limits=Limits())


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"widht": 3}, UnknownNameError, "unknown setting of frame_autoencoder 'widht', did you mean 'width'"),
        ({"width": 0}, InputError, "width is 0, choose a whole number from 1 to 512"),
        ({"batch": 2.5}, InputError, r"batch is 2\.5, choose a whole number"),
        ({"width": True}, InputError, "width is True"),
        ({"width": "8"}, InputError, "width is '8'"),
        ({"learning_rate": float("nan")}, InputError, "learning_rate is nan, choose a number above 0"),
        ({"learning_rate": -1}, InputError, "learning_rate is -1, choose a number above 0"),
        ({"learning_rate": 1.5}, InputError, r"learning_rate is 1\.5, choose a number above 0, at most 1"),
    ],
    ids=str,
)
def test_settings_that_cannot_be_are_refused(
    films: Path, tmp_path: Path, settings: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        small(films, tmp_path, settings=settings, limits=Limits(steps=3))


def test_a_loss_that_is_no_number_ends_the_training(films: Path, tmp_path: Path) -> None:
    def loss(made: Any, batch: tuple[Any, ...], settings: Any) -> Any:
        return NETWORKS["frame_autoencoder"].loss(made, batch, settings) * float("nan")

    broken = dataclasses.replace(named("frame_autoencoder"), loss=loss)
    with pytest.raises(RunError, match="the loss is nan after 0 steps; choose a smaller learning_rate"):
        train(broken, frozen.load(films), root=films, folder=tmp_path, limits=Limits(steps=3), settings=SMALL, device="cpu")
    assert not list(tmp_path.iterdir())


def test_another_network_and_another_kind_of_dataset_are_refused(films: Path, prints: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown trainable network 'frames'"):
        named("frames")
    decaption, fingerprint = frozen.load(films), frozen.load(prints)
    with pytest.raises(InputError, match=r"residual_encoder is for datasets of the recipe 'fingerprint', .* is of 'decaption'"):
        chosen_items(named("residual_encoder"), decaption)
    with pytest.raises(InputError, match="'Fingerprint denoising' is of 'fingerprint'"):
        chosen_items(named("patch_autoencoder"), decaption, evaluated=fingerprint)


def with_items(dataset: Dataset, **fields: Any) -> Dataset:
    """The same items with other facts: a value, or a function of the item."""
    rows = [{**row, **{key: made(row) if callable(made) else made for key, made in fields.items()}} for row in dataset.items]
    return dataclasses.replace(dataset, items=tuple(rows))


def test_items_that_are_judged_are_never_learnt_from(prints: Path) -> None:
    network, dataset = named("residual_encoder"), frozen.load(prints)
    assert {row["split"] for row in chosen_items(network, dataset)} == {"train"}
    with pytest.raises(InputError, match=r"20 of 20 items to train on share their item with items to be judged"):
        chosen_items(network, dataset, evaluated=dataset)
    fresh = {name: lambda row, name=name: "other " + str(row[name]) for name in ("item_id", "source_id", "truth_rgb_sha256")}
    assert len(chosen_items(network, dataset, evaluated=with_items(dataset, **fresh))) == 20
    for field, words in (("source_id", "file"), ("truth_rgb_sha256", "true picture")):
        one_left = {name: made for name, made in fresh.items() if name != field}
        with pytest.raises(InputError, match=f"share their {words} with"):
            chosen_items(network, dataset, evaluated=with_items(dataset, **one_left))
    with pytest.raises(InputError, match="share their file with"):
        chosen_items(network, with_items(dataset, source_id="one for all"))
    with pytest.raises(InputError, match="share their source with"):
        chosen_items(network, with_items(dataset, attributes={"split_group": "one for all"}))


def test_no_items_and_several_sizes_are_refused(prints: Path) -> None:
    network, dataset = named("residual_encoder"), frozen.load(prints)
    with pytest.raises(InputError, match="has no items in the split 'train', only test"):
        chosen_items(network, with_items(dataset, split="test"))
    with pytest.raises(InputError, match=r"several sizes \(.*learns from one"):
        chosen_items(network, with_items(dataset, width=lambda row: 100 + len(row["item_id"]) + int(row["item_id"], 16) % 7))


def test_a_training_of_all_of_another_dataset(prints: Path, tmp_path: Path) -> None:
    dataset = frozen.load(prints)
    apart = {name: lambda row, name=name: "other " + str(row[name]) for name in ("item_id", "source_id", "truth_rgb_sha256")}
    done = train(
        named("residual_encoder"), dataset, root=prints, folder=tmp_path, limits=Limits(steps=1), settings=SMALL, device="cpu",
        evaluated=with_items(dataset, **apart),
    )  # fmt: skip
    assert done.items == len(dataset.items)
