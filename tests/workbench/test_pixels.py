"""Films of items whose truth is held back, and of still pictures: what was predicted plays all the same."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from held_back_films import make_films

from inpaintbench import frozen, video
from inpaintbench.export.holding_back import hold_back
from inpaintbench.masks.overlays import fonts
from inpaintbench.types import Prediction
from inpaintbench.workbench import pixels
from inpaintbench.workbench.exporting import film
from inpaintbench.workbench.pixels import ItemMedia, Part, sheet, thumb_of
from inpaintbench.workspace import Workspace


@pytest.fixture
def held(tmp_path: Path) -> tuple[Path, Path, str]:
    """A dataset without truths, a run that has one white prediction, and its item."""
    hold_back(make_films(tmp_path / "made"), splits=["test"], public=tmp_path / "public", truth=tmp_path / "truth")
    workspace = Workspace(tmp_path / "run")
    item = frozen.load(tmp_path / "public").items[0]["item_id"]
    white = np.full((3, 32, 48, 3), 255, np.uint8)
    blob, _ = workspace.blobs.put(".mp4", lambda path: video.write_lossless(path, white, fps=25.0))
    rows = [Prediction("mine", "1", item, blob, full_frames=False, largest_change_outside=0)]
    workspace.write_table("predictions", "predict.mine", rows, Prediction)
    return tmp_path / "public", tmp_path / "run", item


def test_a_prediction_without_a_truth_plays_in_its_input(held: tuple[Path, Path, str], tmp_path: Path) -> None:
    public, run, item = held
    media = ItemMedia(public, tmp_path)
    parts = [*media.parts(item), Part("mine", "mine", run)]
    assert [part.name for part in parts] == ["input", "mine"]
    frames, given, hole = media.frames(item, parts[1]), media.frames(item, parts[0]), media.hole(item)
    assert frames is not None
    assert given is not None
    assert hole is not None
    assert (frames[hole] > 250).all()
    assert (frames[~hole] == given[~hole]).all()
    shown = sheet(media, tmp_path, item, parts)
    assert (shown["missing"], shown["curves"]) == ({}, [])
    assert thumb_of(media, item, parts, tmp_path).stat().st_size > 0


def test_films_side_by_side_show_the_pictures_alone(held: tuple[Path, Path, str], tmp_path: Path) -> None:
    public, run, item = held
    media = ItemMedia(public, tmp_path)
    parts = [*media.parts(item), Part("mine", "mine", run)]
    given = media.frames(item, parts[0])
    assert given is not None
    height, width = given.shape[1:3]
    whole = video.read_frames(film(tmp_path, media, item, parts))
    assert whole.shape[1] * whole.shape[2] == 2 * width * (height + 24)  # two pictures with their names and nothing else


def test_what_is_made_under_another_protocol_or_at_the_same_time_is_another_file(
    held: tuple[Path, Path, str], tmp_path: Path
) -> None:
    public, run, item = held
    media, other = ItemMedia(public, tmp_path), ItemMedia(public, tmp_path, protocol="devil/as-published")
    parts = [*media.parts(item), Part("mine", "mine", run)]
    (tmp_path / "cache").mkdir()
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda one: sheet(one, tmp_path / "cache", item, parts)["file"], [media, other] * 2)]
        films = {*pool.map(lambda _: film(tmp_path / "cache", media, item, parts), range(4))}
    assert len(set(found)) == 2
    assert found[0] == found[2] != found[1]
    assert all(video.read_frames(path).shape[0] == 3 for path in [*films, *(tmp_path / "cache" / name for name in found)])
    assert len(list((tmp_path / "cache").iterdir())) == 5  # two films, what is told of them, and a labelled one


def test_what_several_ask_for_at_once_is_made_once(
    held: tuple[Path, Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, run, item = held
    made, write, draw = [], pixels._make, pixels._write_thumb

    def slowly(*given: Any) -> None:
        made.append("film")
        time.sleep(0.3)
        write(*given)

    def drawn(path: Path, frames: Any) -> None:
        made.append("thumb")
        time.sleep(0.3)
        draw(path, frames)

    monkeypatch.setattr(pixels, "_MAKING", threading.Semaphore(8))
    monkeypatch.setattr(pixels, "_make", slowly)
    monkeypatch.setattr(pixels, "_write_thumb", drawn)
    media = ItemMedia(root, tmp_path)
    parts = [*media.parts(item), Part("mine", "mine", run)]
    with ThreadPoolExecutor(8) as pool:
        films = [pool.submit(sheet, media, tmp_path, item, parts) for _ in range(4)]
        thumbs = [pool.submit(thumb_of, media, item, parts, tmp_path) for _ in range(4)]
        assert len({film.result()["file"] for film in films}) == len({thumb.result() for thumb in thumbs}) == 1
    assert sorted(made) == ["film", "thumb"]


def test_a_method_without_a_prediction_is_named(held: tuple[Path, Path, str], tmp_path: Path) -> None:
    public, run, _ = held
    other = frozen.load(public).items[1]["item_id"]
    media = ItemMedia(public, tmp_path)
    shown = sheet(media, tmp_path, other, [*media.parts(other), Part("mine", "mine", run)])
    assert [one["label"] for one in shown["players"]] == ["input"]
    assert shown["missing"] == {"mine": "it has no prediction of this item"}


def test_names_are_drawn_in_a_font_that_has_their_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each letter is drawn otherwise than the sign for a missing one; what no font has is a question mark."""
    absent = pixels._bar("\uffff", 60)
    for letter in ("×", "é", "Ж", "λ", "ő", "Δ", "·"):
        assert (pixels._bar(letter, 60) != absent).any(), letter
        assert not fonts.missing(pixels._pieces(letter)[0][1], letter)
    monkeypatch.setattr(fonts, "_listed", lambda _: ())  # no font is installed
    assert [text for text, _ in pixels._pieces("run × 漢字")] == ["run × ??"]
