"""Small trees of published benchmarks, laid out as their files of facts say."""

from __future__ import annotations

import json
import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from inpaintbench import video

if TYPE_CHECKING:  # the tests of the core use this file where no wing is
    from inpaintbench.wings.named.definition import Tree

FRAMES, HEIGHT, WIDTH = 6, 48, 64


def films(number: int) -> dict[str, np.ndarray]:
    """``inputs``, ``masks`` and ``truths`` of a clip: an object that stands before a texture that moves."""
    rng = np.random.default_rng(number)
    texture = cv2.resize(rng.integers(0, 255, (12, 16, 3), np.uint8), (WIDTH, HEIGHT))
    truth = np.stack([np.roll(texture, 2 * frame, 1) for frame in range(FRAMES)])
    mask = np.zeros(truth.shape[:3], bool)
    mask[:, 16:32, 20:40] = True
    shown = truth.copy()
    shown[mask] = (200, 40, 40)
    return {"inputs": shown, "masks": mask, "truths": truth}


def write(path: Path, film: np.ndarray) -> None:
    """A film as one video, as numbered pictures where the path ends in a picture's name, or as an archive of these."""
    folder = path.parent if path.suffix in (".jpg", ".png") else path
    folder.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".mp4":
        (video.write_hole if film.dtype == bool else video.write_lossless)(path, film, fps=24)
        return
    pictures = folder if path.suffix != ".zip" else path.with_suffix("")
    pictures.mkdir(parents=True, exist_ok=True)
    for number, frame in enumerate(film):
        video.write_image(pictures / f"{number:05d}.png", frame)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for picture in sorted(pictures.iterdir()):
                archive.write(picture, picture.name)
                picture.unlink()
        pictures.rmdir()


def make(root: Path, tree: Tree, *, clips: int = 2) -> None:
    """A tree of ``clips`` clips below ``root``."""
    if tree.layout:
        _LAYOUTS[tree.layout](root, clips)
        return
    for number in range(clips):
        made = films(number)
        for side, names in tree.folders().items():
            pictures = any(path.startswith(f"{names[0]}/") and path.endswith((".jpg", ".png")) for path in tree.example)
            write(
                root / names[0] / f"clip_{number}" / "0.png" if pictures else root / names[0] / f"clip_{number}.mp4", made[side]
            )
    if tree.prompts:
        path = root / tree.prompts[0]
        path = path if path.suffix else path / "edits.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        values = {
            "source_prompt": "a wall",
            "target_prompt": "a red wall",
            "task": "colour",
            "object": "1",
            "instruction": "paint it",
        }
        rows = [
            {theirs: f"clip_{number}" if ours == "clip" else values[ours] for ours, theirs in tree.columns.items()}
            for number in range(clips)
        ]
        if path.suffix == ".csv":
            lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
            path.write_text("\n".join(lines) + "\n")
        else:
            path.write_text(json.dumps(rows))


def _rose(root: Path, clips: int) -> None:
    for number in range(clips):
        for side, name in (("inputs", "Unedited"), ("masks", "Masked"), ("truths", "Edited")):
            write(root / "mirror" / name / f"example-{number}.mp4", films(number)[side])


def _e2fgvi(root: Path, clips: int) -> None:
    for number in range(clips):
        write(root / "JPEGImages" / f"clip_{number}.zip", films(number)["inputs"])
        write(root / "test_masks" / f"clip_{number}" / "0.png", films(number)["masks"])
    (root / "test.json").write_text(json.dumps({f"clip_{number}": FRAMES for number in range(clips)}))


def _rord(root: Path, clips: int) -> None:
    for number in range(clips):
        made, scene = films(number), Path("outdoor", "jpg", f"S{number:02d}")
        (root / scene).mkdir(parents=True)
        masks = root / "outdoor" / "M" / scene.name
        masks.mkdir(parents=True)
        for frame in range(2):
            video.write_image(root / scene / f"S_{frame:03d}.jpg", made["inputs"][frame])
            polygon = {"segmentation": [20, 16, 40, 16, 40, 32, 20, 32]}
            (masks / f"S_{frame:03d}_M.json").write_text(json.dumps({"Learning_Data_Info.": {"Annotation": [polygon]}}))
        video.write_image(root / scene / "S_002.jpg", made["truths"][0])


def _ober(root: Path, clips: int) -> None:
    made = [films(number) for number in range(clips)]
    sides = {"input": "inputs", "gt": "truths", "object_mask": "masks", "object_effect_mask": "masks"}
    columns = {name: [{"bytes": video.png_bytes(film[side][0]), "path": None} for film in made] for name, side in sides.items()}
    (root / "data").mkdir(parents=True)
    table = pa.table({**columns, "subset": ["camera"] * clips, "split": ["test"] * clips})
    pq.write_table(table, root / "data" / "test-00000-of-00001.parquet")


def _vpbench(root: Path, clips: int, *, table: str = "our_video_inpaint.csv") -> None:
    names = [f"00000500000{number}.0.mp4" for number in range(clips)]
    for number, name in enumerate(names):
        made, base = films(number), name.partition(".")[0]
        write(root / "videovo" / "raw_video" / base[:-3] / name, made["inputs"])
        masks = root / "video_inpainting" / "videovo" / base
        masks.mkdir(parents=True)
        np.savez_compressed(masks / "all_masks.npz", made["masks"].astype(np.uint8) * 2)
    heads = "path,mask_id,start_frame,end_frame,fps,video_inpainting_prompt,image_inpainting_prompt,type"
    lines = [heads, *(f"{name},2,0,{FRAMES},8,a wall,a red square,objects" for name in names)]
    (root / table).write_text("\n".join(lines) + "\n")


_LAYOUTS = {
    "rose": _rose,
    "e2fgvi": _e2fgvi,
    "rord": _rord,
    "ober": _ober,
    "vpbench": _vpbench,
    "vpbench-long": partial(_vpbench, table="our_video_inpaint_long.csv"),
}
