"""Our metrics beside the released code that they follow, over 20 stored results, with made-up parameters of small networks.

PYTHONPATH=PACKAGES python bench/_named_metrics.py --prove CHECKOUT [--quick]

Released code is run where it lies, in a checkout of its repository; what it needs beside this program's packages (transformers,
torchmetrics, einops, omegaconf) lies in PACKAGES. What came out stands in bench/named_metrics.md. The networks are of the
published kinds but small, with the same parameters on both sides: what is compared is all that stands around them, and the
layers. Results are those of the test assets (`INPAINTBENCH_TEST_ASSETS`).
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

os.environ["OMP_NUM_THREADS"] = "1"
sys.path += [str(Path(__file__).resolve().parent.parent / "tests" / "helpers")]

import cv2
import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from tiny_networks import shaken

from inpaintbench.types import Frames, Hole

torch.set_num_threads(1)


class Result(NamedTuple):
    """One stored result."""

    name: str
    truth: Frames
    prediction: Frames
    hole: Hole


# Column -> the released value and ours.
Values = Mapping[str, tuple[float, float]]


def results(count: int) -> Iterator[Result]:
    """Two edits, a filled film, and photographs that were filled twice: by MI-GAN, as stored, and by OpenCV."""
    assets = Path(os.environ["INPAINTBENCH_TEST_ASSETS"])
    bear = assets / "edited/edited-editboard-bear/sample"
    source, mask = _pictures(bear / "bear"), _pictures(bear / "bear_mask")[..., 0] > 127
    for edit in ("bear_panda", "bear_white"):
        frames = sorted((bear / edit).iterdir(), key=lambda path: int(path.stem.split("_")[-1]))
        yield Result(edit, source[:4], np.stack([_picture(path) for path in frames])[:4], mask[:4])
    devil = assets / "results/scenery-devil-sample/devkit"
    inputs, outputs = (sorted((devil / f"sample-inpainting-{kind}").rglob("*.png")) for kind in ("inputs", "outputs"))
    truth = np.stack([_picture(path) for path in inputs if path.name.endswith("_gt.png")])
    known = np.stack([_picture(path) for path in inputs if path.name.endswith("_mask.png")])[..., 0] > 127
    yield Result("devil", truth[:4], np.stack([_picture(path) for path in outputs])[:4], ~known[:4])
    photos = assets / "photos/images-migan-places512/examples/places2_512_object"
    for number in range(1, count - 2):
        photo = _picture(photos / f"images/{number}.png")
        hole = _picture(photos / f"masks/{number}.png")[..., 0] > 127
        by_opencv = cv2.inpaint(photo, hole.view(np.uint8), 3, cv2.INPAINT_TELEA)
        made = np.stack([_picture(photos / f"results/migan/{number}.png"), np.asarray(by_opencv, np.uint8)])
        yield Result(f"photo-{number}", np.stack([photo, photo]), made, np.stack([hole, hole]))


def _pictures(folder: Path) -> Frames:
    return np.stack([_picture(path) for path in sorted(folder.iterdir())])


def _picture(path: Path) -> npt.NDArray[np.uint8]:
    return np.asarray(Image.open(path).convert("RGB"))


# PROVE


def prove() -> Callable[[Result], Values]:
    """RC-S and RC-T."""
    from transformers import Dinov2Config, Dinov2Model
    from utils.metrics import calculate_rc_s_score, calculate_rc_t_score  # type: ignore[import-not-found]
    from utils.predictors import DinoPredictor  # type: ignore[import-not-found]

    from inpaintbench.eval.metrics.removal_coherence import RcS, RcT
    from inpaintbench.eval.passes.frame_vectors import normalised
    from inpaintbench.models.dino import DEVIATION, MEAN
    from inpaintbench.models.dino_layers import Dino

    ours = shaken(lambda: Dino(width=48, layers=2, heads=3, patch_pixels=14, grid=37, scaled=True))
    config = Dinov2Config(
        hidden_size=48, num_hidden_layers=2, num_attention_heads=3, patch_size=14, image_size=518, use_swiglu_ffn=True
    )
    theirs = Dinov2Model(config).eval()
    theirs.load_state_dict(_as_transformers(ours.state_dict()), strict=False)

    def processor(images: npt.NDArray[np.uint8], **ignored: object) -> dict[str, Any]:  # noqa: ARG001 - as it is called
        levels = torch.from_numpy(images.copy()).permute(2, 0, 1)[None].float() / 255
        return {"pixel_values": normalised(levels, MEAN, DEVIATION)}

    predictor = DinoPredictor(theirs, processor, device="cpu")
    kernel = predictor.compute_rbf_mmd
    predictor.compute_rbf_mmd = lambda x, y: kernel(x.double(), y.double())

    def network(picture: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        with torch.inference_mode():
            return np.asarray(ours.patch_tokens(processor(picture)["pixel_values"])[0].double())

    constants: Any = {"rule": "as-published", "backbone": "dinov2-giant", "regions": ("frame",), "band_radius_pixels": 8}
    spatial, temporal = RcS(**constants), RcT(**constants)

    def compared(result: Result) -> Values:
        masks = [np.repeat(mask[..., None].astype(np.uint8) * 255, 3, axis=2) for mask in result.hole]
        frames = list(result.prediction)
        values: dict[str, tuple[float, float]] = {}
        for single in (False, True):
            predictor.compute_rbf_mmd = kernel if single else lambda x, y: kernel(x.double(), y.double())
            their_s = [calculate_rc_s_score(frame, mask, predictor) for frame, mask in zip(frames, masks, strict=True)]
            their_t = [
                calculate_rc_t_score(frames[at], frames[at + 1], masks[at], masks[at + 1], predictor)
                for at in range(len(frames) - 1)
            ]
            our_s = [spatial.of_frame(frame, mask, network) for frame, mask in zip(frames, result.hole, strict=True)]
            our_t = [
                temporal.of_pair(result.prediction[at : at + 2], result.hole[at : at + 2], network)
                for at in range(len(frames) - 1)
            ]
            suffix = " (as released, single precision)" if single else ""
            values[f"RC-S{suffix}"] = _mean(their_s), _mean(our_s)
            values[f"RC-T{suffix}"] = _mean(their_t), _mean(our_t)
        return values

    return compared


def _as_transformers(state: Mapping[str, Any]) -> dict[str, Any]:
    """Names of DINOv2's authors -> those of the package ``transformers``."""
    made: dict[str, Any] = {
        "embeddings.cls_token": state["cls_token"],
        "embeddings.position_embeddings": state["pos_embed"],
        "layernorm.weight": state["norm.weight"],
        "layernorm.bias": state["norm.bias"],
    }
    for kind in ("weight", "bias"):
        made[f"embeddings.patch_embeddings.projection.{kind}"] = state[f"patch_embed.proj.{kind}"]
    for name, value in state.items():
        if not name.startswith("blocks."):
            continue
        _, number, rest = name.split(".", 2)
        kind = rest.rsplit(".", 1)[-1]
        target = f"encoder.layer.{number}."
        if rest.startswith("attn.qkv"):
            for letter, part in zip("qkv", value.chunk(3), strict=True):
                made[f"{target}attention.{letter}_proj.{kind}"] = part
        elif rest.startswith("mlp.w12"):
            for word, part in zip(("gate", "up"), value.chunk(2), strict=True):
                made[f"{target}mlp.{word}_proj.{kind}"] = part
        else:
            renamed = {"attn.proj": "attention.o_proj", "mlp.w3": "mlp.down_proj", "ls1.gamma": "layer_scale1.lambda1"}
            renamed |= {"ls2.gamma": "layer_scale2.lambda1"}
            for old, new in renamed.items():
                rest = rest.replace(old, new)
            made[target + rest] = value
    return made


def _mean(values: Sequence[float | None]) -> float:
    """Of those that are there, as the released loops have it; NaN of none."""
    known = [float(value) for value in values if value is not None and not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")


BENCHES: Mapping[str, Callable[[], Callable[[Result], Values]]] = {"prove": prove}


def main() -> None:
    """Print a table for each checkout."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in BENCHES:
        parser.add_argument(f"--{name}", type=Path, help=f"folder of the released code of {name}")
    parser.add_argument("--quick", action="store_true", help="six results")
    options = parser.parse_args()
    for name, bench in BENCHES.items():
        checkout = getattr(options, name)
        if checkout is None:
            continue
        sys.path.insert(0, str(checkout))
        compared = bench()
        columns: dict[str, list[tuple[str, float, float]]] = {}
        for result in results(6 if options.quick else 20):
            for column, (theirs, ours) in compared(result).items():
                columns.setdefault(column, []).append((result.name, theirs, ours))
        print(f"## {name}\n\n| column | results with a value | least | greatest | largest difference | relative |")
        print("|---|---|---|---|---|---|")
        for column, rows in columns.items():
            theirs, ours = (np.array([row[side] for row in rows]) for side in (1, 2))
            known = np.isfinite(theirs) | np.isfinite(ours)
            apart = np.abs(theirs - ours)[known]
            relative = apart / np.maximum(np.abs(theirs[known]), 1e-12)
            print(
                f"| {column} | {int(known.sum())} | {theirs[known].min():.6g} | {theirs[known].max():.6g} "
                f"| {apart.max():.2g} | {relative.max():.2g} |"
            )
        print()


if __name__ == "__main__":
    main()
