"""Our metrics beside the released code that they follow, over 20 stored results, with made-up parameters of small networks.

PYTHONPATH=PACKAGES python bench/_named_metrics.py --prove CHECKOUT [--quick]

Released code is run where it lies, in a checkout of its repository; what it needs beside this program's packages (transformers,
torchmetrics, einops, omegaconf, pyiqa) lies in PACKAGES; `INPAINTBENCH_WEIGHTS` has the statistics of NIQE. What came out
stands in bench/named_metrics.md. The networks are of the published kinds but small, with the same parameters on both sides: what
is compared is all that stands around them, and the layers. Results are those of the test assets (`INPAINTBENCH_TEST_ASSETS`).
"""

from __future__ import annotations

import argparse
import csv
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import MagicMock

os.environ["OMP_NUM_THREADS"] = "1"
sys.path += [str(Path(__file__).resolve().parent.parent / "tests" / "helpers")]

import cv2
import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from tiny_networks import shaken

from inpaintbench.compute import Compute, Shared
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.types import Frames, Hole, Prompts
from inpaintbench.view import ItemView

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


# What VideoPainter's and FiVE's evaluations share: torchmetrics, with small networks


PROMPTS = ("a brown bear walks over rocks", "a long caption of the film, " * 30)
SIDE_PIXELS = 224


def _clip() -> tuple[Any, Any, Any]:
    """CLIP of one layer for pictures of 224 pixels: our encoders of pictures and texts, and that of ``transformers``."""
    from transformers import CLIPConfig, CLIPModel

    from inpaintbench.models.clip import NETWORKS, Shape, build_images, build_texts

    shape = Shape("", 24, layers=1, width=64, patch_pixels=32, text_layers=1, text_width=64, side_pixels=SIDE_PIXELS)
    NETWORKS["small"] = shape  # type: ignore[index]
    images, texts = shaken(lambda: build_images(shape)), shaken(lambda: build_texts(shape), seed=2)
    layer = {"num_hidden_layers": 1, "num_attention_heads": 1, "hidden_size": 64, "intermediate_size": 256}
    config = CLIPConfig(
        text_config={**layer, "vocab_size": 49408, "max_position_embeddings": 77, "eos_token_id": 2, "projection_dim": 24},
        vision_config={**layer, "image_size": SIDE_PIXELS, "patch_size": 32, "projection_dim": 24},
        projection_dim=24,
    )
    model = CLIPModel(config).eval()
    state = _as_clip_of_transformers(images.state_dict(), "vision_model") | _as_clip_of_transformers(
        texts.state_dict(), "text_model"
    )
    missing = model.load_state_dict(state, strict=False)
    assert not [
        name for name in (*missing.missing_keys, *missing.unexpected_keys) if "position_ids" not in name and name != "logit_scale"
    ], missing
    return images, texts, model


def _as_clip_of_transformers(state: Mapping[str, Any], side: str) -> dict[str, Any]:
    """Names of OpenAI's CLIP -> those of the package ``transformers``."""
    made: dict[str, Any] = {}
    whole = {
        "class_embedding": "vision_model.embeddings.class_embedding",
        "conv1.weight": "vision_model.embeddings.patch_embedding.weight",
        "token_embedding.weight": "text_model.embeddings.token_embedding.weight",
        "positional_embedding": f"{side}.embeddings.position_embedding.weight",
    }
    for name, value in state.items():
        kind = name.rsplit(".", 1)[-1]
        if name in whole:
            made[whole[name]] = value
        elif name == "proj":
            made["visual_projection.weight"] = value.T
        elif name == "text_projection":
            made["text_projection.weight"] = value.T
        elif name.startswith("ln_pre"):
            made[f"vision_model.pre_layrnorm.{kind}"] = value
        elif name.startswith("ln_post"):
            made[f"vision_model.post_layernorm.{kind}"] = value
        elif name.startswith("ln_final"):
            made[f"text_model.final_layer_norm.{kind}"] = value
        elif name.startswith("transformer.resblocks."):
            _, _, number, rest = name.split(".", 3)
            target = f"{side}.encoder.layers.{number}."
            if rest.startswith("attn.in_proj"):
                kind = rest.rsplit("_", 1)[-1]
                for letter, part in zip("qkv", value.chunk(3), strict=True):
                    made[f"{target}self_attn.{letter}_proj.{kind}"] = part
                continue
            for old, new in (
                ("attn.out_proj", "self_attn.out_proj"), ("ln_1", "layer_norm1"), ("ln_2", "layer_norm2"),
                ("mlp.c_fc", "mlp.fc1"), ("mlp.c_proj", "mlp.fc2"),
            ):  # fmt: skip
                rest = rest.replace(old, new)
            made[target + rest] = value
    return made


class _Output:
    """What the model of a later ``transformers`` gives, as torchmetrics wants it: the vectors alone."""

    def __init__(self, model: Any) -> None:
        self.model, self.config = model, model.config

    def to(self, device: object) -> _Output:  # noqa: ARG002 - as it is called
        return self

    def get_image_features(self, pictures: Any) -> Any:
        found = self.model.get_image_features(pictures)
        return getattr(found, "pooler_output", found)

    def get_text_features(self, numbers: Any, mask: Any) -> Any:
        found = self.model.get_text_features(numbers, mask)
        return getattr(found, "pooler_output", found)


def _processor(*, images: Any = None, text: Any = None, **ignored: object) -> dict[str, Any]:  # noqa: ARG001 - as it is called
    """CLIP's slow processor: Pillow's bicubic filter, the middle square, the published normalisation; its tokens."""
    from inpaintbench.models.clip import DEVIATION, MEAN, tokens

    if text is not None:
        rows = [tokens(one) for one in text]
        numbers = torch.tensor([row + [row[-1]] * (max(map(len, rows)) - len(row)) for row in rows])
        return {"input_ids": numbers, "attention_mask": torch.ones_like(numbers)}
    squares = []
    for picture in images:
        shown = Image.fromarray(picture.permute(1, 2, 0).numpy())
        width, height = shown.size
        short = min(width, height)
        size = int(SIDE_PIXELS * width / short), int(SIDE_PIXELS * height / short)
        left, top = (size[0] - SIDE_PIXELS) // 2, (size[1] - SIDE_PIXELS) // 2
        square = np.asarray(shown.resize(size, Image.Resampling.BICUBIC))[top : top + SIDE_PIXELS, left : left + SIDE_PIXELS]
        squares.append((torch.from_numpy(square / np.float32(255)) - torch.tensor(MEAN)) / torch.tensor(DEVIATION))
    return {"pixel_values": torch.stack(squares).permute(0, 3, 1, 2).float()}


def _torchmetrics(calculator: Any, model: Any) -> None:
    """What the released constructors set, with small networks; LPIPS has a made-up trunk and the published heads."""
    import torchmetrics.functional.image.lpips  # noqa: F401 - looked up by its name, which a function has, too
    from torchmetrics.image import PeakSignalNoiseRatio, StructuralSimilarityIndexMeasure
    from torchmetrics.image.lpip import LearnedPerceptualImagePatchSimilarity
    from torchmetrics.multimodal.clip_score import CLIPScore
    from torchmetrics.regression import MeanAbsoluteError, MeanSquaredError

    from inpaintbench.eval.metrics import clip as clip_metrics
    from inpaintbench.eval.metrics import lpips as lpips_metric
    from inpaintbench.models import lpips_networks
    from inpaintbench.models.lpips_layers import LpipsNetwork

    images, texts, theirs = model
    released = sys.modules["torchmetrics.functional.image.lpips"]
    features = released._get_tv_model_features
    released._get_tv_model_features = lambda net, pretrained: features(net, False)  # noqa: ARG005
    torch.manual_seed(0)
    calculator.lpips_metric_calculator = LearnedPerceptualImagePatchSimilarity(net_type="squeeze")
    calculator.psnr_metric_calculator = PeakSignalNoiseRatio(data_range=1.0)
    calculator.mse_metric_calculator, calculator.l1_metric_calculator = MeanSquaredError(), MeanAbsoluteError()
    calculator.ssim_metric_calculator = StructuralSimilarityIndexMeasure(data_range=1.0)
    calculator.clip_metric_calculator = CLIPScore(model_name_or_path=lambda: (_Output(theirs), _processor))
    trunk = {}
    for slice_ in calculator.lpips_metric_calculator.net.net.slices:
        for number, part in slice_.named_children():
            trunk |= {f"{number}.{name}": value for name, value in part.state_dict().items()}
    ours = LpipsNetwork("squeeze").eval()
    ours.load_state_dict(lpips_networks._translated("squeeze", {f"features.{name}": value for name, value in trunk.items()}))
    lpips_metric.lpips = lambda net, compute: ours  # type: ignore[assignment]  # noqa: ARG005
    frame_vectors = sys.modules["inpaintbench.eval.passes.frame_vectors"]
    for place in (clip_metrics, frame_vectors):
        place.image_network = lambda name, compute: images  # type: ignore[attr-defined]  # noqa: ARG005
    frame_vectors.text_network = lambda name, compute: texts  # type: ignore[attr-defined]  # noqa: ARG005


def _stubs(*names: str) -> None:
    """Packages that the released modules import and that nothing of what is compared needs."""
    import torchmetrics  # noqa: F401 - looks for packages itself, and must not find a stub

    for name in names:
        try:
            __import__(name)
        except ImportError:
            sys.modules[name] = MagicMock()


def _ours(protocol: str, result: Result, prompt: str, *, skip: Sequence[str] = ()) -> dict[tuple[str, str], float]:
    """Metric and region -> our value."""
    found = {}
    parts = {
        "truth": result.truth,
        "composite": result.prediction,
        "prediction": result.prediction,
        "hole": result.hole,
        "object_mask": result.hole,
    }
    given = {name: (lambda held=held: held) for name, held in parts.items()}
    given["prompts"] = lambda: Prompts(source=None, target=prompt, hole=prompt)  # type: ignore[assignment]
    height, width = result.hole.shape[1:]
    view = ItemView(
        item_id="", frames=len(result.truth), height=height, width=width, fps=25.0, parts=given,
        shared=Shared(compute=Compute(device="cpu")),
    )  # fmt: skip
    frozen = PROTOCOLS.get(protocol)
    for name, constants in frozen.metrics.items():
        if name in skip:
            continue
        small = {"network": "small"} if "network" in constants and name != "subject_consistency" else {}
        stride = {"stride": 1} if "stride" in constants else {}
        metric = METRICS.get(name)(regions=frozen.regions, band_radius_pixels=8, **{**constants, **small, **stride})
        for region, one in metric.measure(view.declaring(name, metric.parts)).items():
            found[name, region] = float("nan") if one.value is None else one.value
    return found


def vpbench() -> Callable[[Result], Values]:
    """VideoPainter's columns of one clip."""
    _stubs("clip", "openai", "matplotlib", "matplotlib.patches", "matplotlib.path", "matplotlib.pyplot")
    from metrics import MetricsCalculator  # type: ignore[import-not-found]

    calculator = object.__new__(MetricsCalculator)
    calculator.device = torch.device("cpu")
    model = _clip()
    _torchmetrics(calculator, model)
    calculator.clip_model = SimpleNamespace(encode_image=model[0])

    def compared(result: Result) -> Values:
        levels = result.truth.astype(np.float32) / 255.0
        truth = (np.clip((2.0 * levels - 1.0) * 0.5 + 0.5, 0, 1) * 255).astype(np.uint8)
        masks = np.repeat(result.hole[..., None].astype(np.uint8), 3, axis=3)
        prompt = PROMPTS[len(result.name) % 2]
        rows: dict[str, list[float]] = {}
        for ori, comp, mask in zip(truth, result.prediction, masks, strict=True):
            for kind in ("psnr", "ssim", "lpips", "mse", "mae"):
                measure = getattr(calculator, f"calculate_{kind}")
                rows.setdefault(kind.upper(), []).append(measure(ori, comp))
                rows.setdefault(f"Masked_{kind.upper()}", []).append(measure(ori, comp, mask_gt=1 - mask))
            rows.setdefault("CLIP_Score", []).append(calculator.calculate_clip_similarity(img=comp, txt=prompt))
            masked = calculator.calculate_clip_similarity(img=comp, txt=prompt, mask=mask)
            rows.setdefault("Masked_Region_CLIP_Score", []).append(masked)
        rows["Temporal_Consistency"] = [calculator.calculate_temporal_consistency(result.prediction)]
        rows["Masked_Temporal_Consistency"] = [calculator.calculate_temporal_consistency(result.prediction, masks)]
        ours = _ours("vpbench/as-published", result, prompt, skip=["vfid"])
        names = {kind.upper(): f"masked_{kind}" for kind in ("psnr", "ssim", "lpips", "mse", "mae")}
        names |= {"CLIP_Score": "clip_score", "Region_CLIP_Score": "clip_score", "Temporal_Consistency": "clip_neighbours"}
        return {
            column: (
                _mean(values),
                ours[names[column.removeprefix("Masked_")], "hole" if column.startswith("Masked_") else "frame"],
            )
            for column, values in rows.items()
        }

    return compared


# As small as I3D takes, and as long, by frames forth and back.
_FVID_FRAMES, _FVID_SIZE = 16, (256, 144)


def fvid(stored: Sequence[Result]) -> Values:
    """VideoPainter's distance of sets of results, by its functions and its network in train mode, as it leaves it."""
    import metrics
    import scipy.linalg

    from inpaintbench.models import i3d as networks
    from inpaintbench.models.i3d_network import Parameters

    root = scipy.linalg.sqrtm  # `disp` is gone from later packages
    scipy.linalg.sqrtm = lambda matrix, disp=True: root(matrix) if disp else (root(matrix), 0.0)
    torch.manual_seed(0)
    own, theirs = Parameters(), metrics.InceptionI3d(400, in_channels=3, final_endpoint="Logits")
    theirs.load_state_dict(own.state_dict(), strict=False)
    networks.network = lambda *names, **options: own  # type: ignore[assignment]  # noqa: ARG005
    protocol = PROTOCOLS.get("vpbench/as-published")
    metric = METRICS.get("vfid")(regions=("frame",), band_radius_pixels=8, **protocol.metrics["vfid"])
    real, made, vectors = [], [], []
    for result in stored:
        at = np.resize(np.r_[: len(result.truth), len(result.truth) - 1 : -1 : -1], _FVID_FRAMES)
        clips = [np.stack([cv2.resize(one, _FVID_SIZE) for one in clip])[at] for clip in (result.truth, result.prediction)]
        levels = clips[0].astype(np.float32) / 255.0
        truth = (np.clip((2.0 * levels - 1.0) * 0.5 + 0.5, 0, 1) * 255).astype(np.uint8)
        pictures = [[Image.fromarray(frame) for frame in clip] for clip in (truth, clips[1])]
        for kept, found in zip((real, made), metrics.calculate_i3d_activations(*pictures, theirs, "cpu"), strict=True):
            kept.append(found)
        hole = np.ones(clips[0].shape[:3], np.bool_)
        view = ItemView.of_arrays(truth=clips[0], composite=clips[1], hole=hole, shared=Shared(compute=Compute(device="cpu")))
        vectors.append(metric.measure(view.declaring(metric.name, metric.parts))["frame"].features)
    found = {}
    for count in (len(stored) // 4, len(stored) // 2, len(stored)):
        ours = metric.compare(vectors[:count], [result.name for result in stored[:count]])
        found[f"FVID of {count} results"] = float(metrics.calculate_vfid(real[:count], made[:count])), float(ours.value)
    return found


def five() -> Callable[[Result], Values]:
    """FiVE's columns of one clip, of all its frames."""
    _stubs("imageio", "qwen_vl_utils", "cotracker", "cotracker.predictor", "cotracker.utils", "cotracker.utils.visualizer")
    from metrics_calculator import LossG, MetricsCalculator, VitExtractor  # type: ignore[import-not-found]

    from inpaintbench.eval.metrics import dino as dino_metrics
    from inpaintbench.models.dino_layers import Dino
    from inpaintbench.models.weights import path_of

    calculator = object.__new__(MetricsCalculator)
    calculator.device = torch.device("cpu")
    _torchmetrics(calculator, _clip())
    network = shaken(lambda: Dino(width=48, layers=12, heads=3, patch_pixels=8, grid=28))
    for block in network.blocks:
        block.attn.attn_drop = torch.nn.Identity()  # which the released hooks look for
    torch.hub.load = lambda *names: network  # noqa: ARG005
    VitExtractor.get_head_num, VitExtractor.get_embedding_dim = (lambda self: 3), (lambda self: 48)  # noqa: ARG005
    settings = {"dino_model_name": "dino_vitb8", "dino_global_patch_size": 224, "lambda_global_cls": 10.0}
    of_photographs = np.load(path_of("niqe-pristine"))
    niqe = _pyiqa()
    photographs = [torch.from_numpy(of_photographs[name].squeeze()) for name in ("mu_pris_param", "cov_pris_param")]
    calculator.structure_distance_metric_calculator = LossG(cfg=settings, device=calculator.device)
    dino_metrics.fine_dino = lambda compute: network  # type: ignore[assignment]  # noqa: ARG005

    def compared(result: Result) -> Values:
        prompt = PROMPTS[len(result.name) % 2]
        rows: dict[str, list[float]] = {}
        for source, target, hole in zip(result.truth, result.prediction, result.hole, strict=True):
            mask = hole[:, :, np.newaxis].repeat([3], axis=2)
            rows.setdefault("structure_distance", []).append(float(calculator.calculate_structure_distance(source, target)))
            for kind in ("psnr", "lpips", "mse", "ssim"):
                value = getattr(calculator, f"calculate_{kind}")(source, target, 1 - mask, 1 - mask)
                rows.setdefault(f"{kind}_unedit_part", []).append(value)
            rows.setdefault("clip_similarity_target_image", []).append(calculator.calculate_clip_similarity(target, prompt, None))
            if mask.any():
                edited = calculator.calculate_clip_similarity(target, prompt, mask)
                rows.setdefault("clip_similarity_target_image_edit_part", []).append(edited)
            levels = torch.from_numpy(target.copy()).permute(2, 0, 1)[None].float() / 255
            found = float(niqe.calculate_niqe(levels, mu_pris_param=photographs[0], cov_pris_param=photographs[1]))
            rows.setdefault("niqe_target_image", []).append(found)
        ours = _ours("five/as-published", result, prompt, skip=["motion_fidelity"])
        places = {
            "structure_distance": ("structure_distance", "frame"), "clip_similarity_target_image": ("clip_score", "frame"),
            "clip_similarity_target_image_edit_part": ("clip_score", "object"), "niqe_target_image": ("niqe", "frame"),
        }  # fmt: skip
        places |= {f"{kind}_unedit_part": (f"masked_{kind}", "object") for kind in ("psnr", "lpips", "mse", "ssim")}
        return {column: (_mean(values), ours[places[column]]) for column, values in rows.items()}

    return compared


# What a model may say to FiVE's three questions, and frames of a result.
_SAID = {
    "source": ("No", "no, a bird", "Yes", "It is not"),
    "target": ("YES", "Yes.", "no"),
    "choice": ("b", "B) a bear", "a)", " b"),
}
_LENGTHS = range(4, 121)


def five_answers(stored: Sequence[Result]) -> Values:
    """FiVE-Acc of shared answers, the frames that are shown, and what its released rows make of their own answers."""
    import metrics_calculator  # type: ignore[import-not-found]

    from inpaintbench.eval import judging
    from inpaintbench.types import QUESTIONS
    from inpaintbench.wings.named.judges import FiveAccuracy

    released = object.__new__(metrics_calculator.FiVEAcc_Qwen_VL)
    released.num_frames, shown = 4, []
    released.processor = SimpleNamespace(apply_chat_template=lambda messages, **more: shown.append(messages) or 1 / 0)  # noqa: ARG005
    for count in _LENGTHS:
        with suppress(ZeroDivisionError):
            metrics_calculator.find_images_in_dir = lambda folder, count=count: list(range(count))  # noqa: ARG005
            released.run_each_iter("", ".")
    own = FiveAccuracy(moments=4, seed=0, regions=("frame",), band_radius_pixels=8)
    theirs = [list(messages[0]["content"][0]["video"]) for messages in shown]
    ours = [list(range(count))[own.shown(count)] for count in _LENGTHS]
    found: dict[str, tuple[float, float]] = {"lengths whose frames agree": (len(_LENGTHS), sum(map(list.__eq__, theirs, ours)))}
    rows: dict[str, list[tuple[float, float]]] = {"YN": [], "MC": []}
    for place, result in enumerate(stored):
        said = {name: words[place % len(words)] for name, words in _SAID.items()}
        released.run_each_iter = lambda text, path, said=said: said[text.rpartition("\n")[2]]  # noqa: ARG005
        judging.ask = lambda prompts, pictures, said=said, **more: {  # type: ignore[assignment]  # noqa: ARG005
            name: said[prompts[name].partition("\n")[0]] for name in prompts
        }
        judging.judge = lambda: ("", "shared")
        more = dict(zip(QUESTIONS, said, strict=True))
        frames = np.resize(result.prediction, (4, *result.prediction.shape[1:]))
        view = ItemView.of_arrays(composite=frames, prompts=Prompts(None, "", more=more), shared=Shared())
        mine = own.answers_of(view.declaring(own.name, own.parts)).read
        for name, pair in zip(rows, zip(released.get_score(*said, []), mine.values(), strict=True), strict=True):
            rows[name].append((float(pair[0]), float(pair[1] or 0)))
    found |= {f"{name}: answers read alike": (len(pairs), sum(a == b for a, b in pairs)) for name, pairs in rows.items()}
    return found | _released_rows(Path(metrics_calculator.__file__).parent.parent / "results" / "8_wan_edit")


def _released_rows(folder: Path) -> Values:
    """Sums of the columns of released results, and of what is made here of their YN and MC."""
    from inpaintbench.wings.named import judges

    lines = [line for path in sorted(folder.glob("edit?_*stride8.csv")) for line in csv.DictReader(path.open())]
    lines = [line for line in lines if None not in line.values()]  # what failed there left cells out
    leaves = {"union": judges.FiveUnion, "inter": judges.FiveIntersection, "": judges.FiveAccuracy}
    found = {}
    for end, leaf in leaves.items():
        theirs, ours = [], []
        for line in lines:
            row = {name.partition("five_acc")[2].strip("_"): value for name, value in line.items() if "five_acc" in name}
            theirs.append(float(row[end]))
            ours.append(leaf.share(row["yes_no"] == "1", row["multi_choice"] == "1"))
        found[f"{leaf.label} of {len(lines)} released rows"] = sum(theirs), sum(ours)
    return found


def _pyiqa() -> Any:
    """Its module of NIQE alone; what that imports for others is made up."""
    where = next(Path(folder) / "pyiqa" for folder in sys.path if (Path(folder) / "pyiqa").is_dir())
    for name in ("pyiqa", "pyiqa.archs", "pyiqa.utils"):
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__path__ = [str(where.joinpath(*name.split(".")[1:]))]
    for name in ("archs.fsim_arch", "archs.arch_util", "utils.download_util", "utils.registry"):
        sys.modules[f"pyiqa.{name}"] = MagicMock()
    return importlib.import_module("pyiqa.archs.niqe_arch")


def ivebench() -> Callable[[Result], Values]:
    """IVEBench's columns that need no network of its own but DINO and CLIP, of one result."""
    _stubs("clip", "torchvision.transforms.functional", "decord")
    from ivebench_utils import dino_transform_Image  # type: ignore[import-not-found]
    from quality.background_consistency import calculate_background_consistency_single_video  # type: ignore[import-not-found]
    from quality.subject_consistency import subject_consistency_single_video  # type: ignore[import-not-found]
    from quality.temporal_flickering import calculate_flickering_score  # type: ignore[import-not-found]
    from torchvision import transforms

    from inpaintbench.eval.metrics import dino as dino_metrics
    from inpaintbench.models.clip import DEVIATION, MEAN
    from inpaintbench.models.dino_layers import Dino

    network = shaken(lambda: Dino(width=48, layers=2, heads=3))
    dino_metrics.small_dino = lambda compute: network  # type: ignore[assignment]  # noqa: ARG005
    images, _, _ = _clip()
    for name in ("inpaintbench.eval.passes.frame_vectors", "inpaintbench.eval.metrics.clip"):
        importlib.import_module(name).image_network = lambda name, compute: images  # type: ignore[attr-defined]  # noqa: ARG005
    model = SimpleNamespace(encode_image=images)
    bicubic = transforms.InterpolationMode.BICUBIC
    prepared = transforms.Compose([
        transforms.Resize(SIDE_PIXELS, interpolation=bicubic), transforms.CenterCrop(SIDE_PIXELS), transforms.ToTensor(),
        transforms.Normalize(MEAN, DEVIATION),
    ])  # fmt: skip

    def compared(result: Result) -> Values:
        frames = [Image.fromarray(frame) for frame in result.prediction]
        ours = _ours("ivebench/as-published", result, "")
        theirs = {
            "SC": subject_consistency_single_video(network, frames, "cpu", dino_transform_Image(224))[0],
            "BC": calculate_background_consistency_single_video(model, prepared, frames, "cpu")[0],
            "TF": calculate_flickering_score([frame[..., ::-1] for frame in result.prediction]),
        }
        names = {"SC": "subject_consistency", "BC": "background_consistency", "TF": "temporal_flickering"}
        return {column: (value, ours[names[column], "frame"]) for column, value in theirs.items()}

    return compared


BENCHES: Mapping[str, Callable[[], Callable[[Result], Values]]] = {
    "prove": prove,
    "vpbench": vpbench,
    "five": five,
    "ivebench": ivebench,
}


# What compares sets of results in place of each.
SETS: Mapping[str, Callable[[Sequence[Result]], Values]] = {"vpbench": fvid, "five": five_answers}


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
        if name in SETS:
            print("\n| set | released | here | relative |\n|---|---|---|---|")
            for column, (theirs, ours) in SETS[name](list(results(6 if options.quick else 20))).items():
                print(f"| {column} | {theirs:.10g} | {ours:.10g} | {abs(theirs - ours) / abs(theirs):.1g} |")
        print()


if __name__ == "__main__":
    main()
