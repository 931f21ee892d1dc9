"""What scores were made with, in a form that is kept beside them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import cv2

import inpaintbench
from inpaintbench.compute import RANDOM_WEIGHTS, Compute
from inpaintbench.errors import InpaintBenchError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.models import torch_networks, weights


def settings_of(protocol: Protocol, metrics: Sequence[str]) -> dict[str, Any]:
    """What the protocol fixes: constants, versions of metrics, weights with their SHA-256."""
    names = [name for name in protocol.metrics if name in metrics]
    return {
        "metric_versions": {name: METRICS.get(name).version for name in names},
        "constants": {name: dict(protocol.metrics[name]) for name in names},
        "weights": {name: f"sha256 {weights.named(name).sha256}" for name in protocol.weights_of(names)},
    }


def settings_here(protocol: Protocol, metrics: Sequence[str], compute: Compute, *, side_pixels: int | None) -> dict[str, Any]:
    """``settings_of``, and what the machine adds: packages, device, precision, which weights there are; no paths and no times."""
    found = settings_of(protocol, metrics)
    made_up = compute.random_weights is not None
    states = {name: "made up" if made_up else weights.state(weights.named(name)) for name in found["weights"]}
    running = not torch_networks.lacking() and bool({"ready", "made up"} & set(states.values()))
    return {
        "inpaintbench": inpaintbench.__version__,
        "opencv": cv2.__version__,
        **({"torch": version("torch")} if running else {}),
        "frames": "as they are" if side_pixels is None else f"squashed to {side_pixels}x{side_pixels}",
        "device": _device(compute) if running else "none: no network ran",
        "precision": compute.precision,
        **found,
        "weights": {name: state if made_up else f"{state}, {found['weights'][name]}" for name, state in states.items()},
    }


def _device(compute: Compute) -> str:
    try:
        return str(torch_networks.device_of(compute).type)
    except InpaintBenchError as error:
        return str(error)


def cautions(fingerprint: str) -> list[str]:
    """What a reader has to know of scores with this fingerprint, a sentence each."""
    if RANDOM_WEIGHTS in fingerprint:
        return ["Networks had made-up parameters: what they say means nothing."]
    return []
