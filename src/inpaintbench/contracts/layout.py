"""Checks that every layout has to pass, wherever it puts things."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inpaintbench import contracts, video
from inpaintbench.contracts import NotChecked, checks_above, moving_texture, require, wandering_hole
from inpaintbench.errors import InputError
from inpaintbench.export.layouts.base import CLIPS, KINDS, PICTURES, Chosen, Layout, Written
from inpaintbench.files import file_sha256
from inpaintbench.types import Dataset, Plain, Slice

HEIGHT, WIDTH = 48, 64
_FRAMES = {CLIPS: 5, PICTURES: 1}
_ITEMS = 2


def states_its_facts(layout: Layout) -> None:
    """Name, version, documentation, what kinds of items it takes, and what lies where."""
    contracts.states_its_facts(layout, "takes", "about")
    foreign = set(layout.takes) - set(KINDS)
    require(layout.takes and not foreign, f"it takes {', '.join(sorted(foreign)) or 'nothing'}; choose from {', '.join(KINDS)}")


def writes_every_item(layout: Layout) -> None:
    """As often as it counts; there are files then."""
    with converted(layout) as (folder, chosen, written):
        require(len(written) == layout.count(chosen), f"it tells of {len(written)} items and counts {layout.count(chosen)}")
        left_out = {row["item_id"] for row in chosen.rows} - {item.row["item_id"] for item in written}
        require(not left_out, f"it leaves out {', '.join(sorted(left_out))}")
        require(_sums(folder), "it writes no file")


def writes_the_same_bytes_twice(layout: Layout) -> None:
    """Equal datasets become equal files."""
    with converted(layout) as (first, *_), converted(layout) as (other, *_):
        require(_sums(first) == _sums(other), "the second time it writes other files")


CHECKS = checks_above(globals())


@contextmanager
def converted(layout: Layout) -> Iterator[tuple[Path, Chosen, list[Written]]]:
    """Convert a small dataset of clips, or of pictures where it takes these alone."""
    kind = next((kind for kind in _FRAMES if kind in layout.takes), None)
    if kind is None:
        raise NotChecked(f"it is for {' and '.join(layout.takes)}, which are not tried")
    with tempfile.TemporaryDirectory(prefix="inpaintbench-") as place:
        root, folder = Path(place, "dataset"), Path(place, "converted")
        root.mkdir()
        folder.mkdir()
        rows = tuple(_item(root, number, frames=_FRAMES[kind]) for number in range(_ITEMS))
        slices = [Slice("all", "every item", tuple(row["item_id"] for row in rows)), Slice("few", "one", (rows[0]["item_id"],))]
        files = {path.name: file_sha256(path) for path in root.iterdir()}
        dataset = Dataset("small", {}, rows, tuple(slices), {}, files, {})
        chosen = Chosen(root, dataset, slices, named=False)
        try:
            written = list(layout.write(folder, chosen))
        except InputError as error:  # some layouts hold certain holes alone
            raise NotChecked(str(error)) from error
        yield folder, chosen, written


def _item(root: Path, number: int, *, frames: int) -> Plain:
    """Row of an item whose files lie in ``root``."""
    truth, hole = moving_texture(frames, height=HEIGHT, width=WIDTH), wandering_hole(frames, height=HEIGHT, width=WIDTH)
    ending = "png" if frames == 1 else "mp4"
    names: dict[str, Any] = {part: f"{part}-{number}.{ending}" for part in ("truth", "hole")}
    video.write_lossless(root / names["truth"], truth, fps=25.0)
    video.write_hole(root / names["hole"], hole, fps=25.0)
    yuv, rgb = video.decoded_hashes(root / names["truth"])
    return {
        "item_id": f"item-{number}", "split": "test", "clip_id": f"clip-{number}", "source_id": f"source-{number}",
        "source_uri": f"film-{number}.mp4", "licence": "CC0-1.0", "author": None, "page_url": None, "start_frame": 0,
        "end_frame": frames, "frames": frames, "width": WIDTH, "height": HEIGHT, "fps": 25.0, "encode_crf": 0,
        "encode_psnr_db": 60.0, "generator": "half_frame", "generator_parameters": {}, "fill": 0, "hole_is_given": True,
        "attributes": {}, "truth_yuv_sha256": yuv, "truth_rgb_sha256": rgb, "hole_sha256": "0", "input_sha256": None,
        "truth_file_name": names["truth"], "hole_file_name": names["hole"],
    }  # fmt: skip


def _sums(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): file_sha256(path) for path in sorted(folder.rglob("*")) if path.is_file()}
