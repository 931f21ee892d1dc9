"""Strips of items on the card: what methods see, in every slice, made anew with the rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from publishing_data import contents, make_dataset

from inpaintbench import frozen, video
from inpaintbench.export.card import is_strip, strip_name
from inpaintbench.export.publishing.fetch import files_of, limited


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("strips"))


def test_every_slice_shows_its_items_as_methods_see_them(small: Path) -> None:
    dataset, card = frozen.load(small), (small / "README.md").read_text()
    strips = [name for name in dataset.files if is_strip(name)]
    assert strips == sorted(strip_name(part.name) for part in dataset.slices)
    assert all(f"]({name}) |" in card for name in strips)
    first = dataset.slices[0]
    rows = {row["item_id"]: row for row in dataset.items}
    strip = video.read_image(small / strip_name(first.name)).astype(int)
    seen = frozen.input_view(small, rows[first.item_ids[0]]).input
    assert strip.shape[0] == 120 or strip.shape[1] >= 208
    # JPEG, and another size: colours on the whole are the input's, holes filled.
    tile = strip[:, : round(seen.shape[2] * strip.shape[0] / seen.shape[1])]
    assert np.allclose(tile.mean(axis=(0, 1)), seen[len(seen) // 2].mean(axis=(0, 1)), atol=6)


def test_a_part_of_a_dataset_has_the_strips_of_its_slices_alone(small: Path) -> None:
    dataset = frozen.load(small)
    kept = dataset.slices[0].name
    assert [name for name in files_of(dataset, [kept]) if is_strip(name)] == [strip_name(kept)]
    sizes = {name: len(data) for name, data in contents(small).items()}
    part, written = limited(dataset, [kept], sizes=sizes, whole_sha256="0" * 64, origin={})
    assert [name for name in part.files if is_strip(name)] == [strip_name(kept)]
    assert written["README.md"].decode().count("](card/items-") == 1
