"""A flow that tests write down themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pytest

from inpaintbench.compute import Compute
from inpaintbench.eval.flows import FLOWS, Flow


class Given(Flow):
    """The flow that was given for these very frames."""

    name = "given"
    version = "1"
    weights: str | None = None
    calls: ClassVar[int] = 0
    flows: ClassVar[dict[tuple[bytes, bytes], np.ndarray]] = {}

    def flow(self, one: np.ndarray, other: np.ndarray, compute: Compute) -> np.ndarray:
        Given.calls += 1
        return np.stack([self.flows[first.tobytes(), second.tobytes()] for first, second in zip(one, other, strict=True)])

    @classmethod
    def give(cls, frames: np.ndarray, forward: np.ndarray, backward: np.ndarray) -> None:
        """``float32[T - 1, H, W, 2]`` both ways."""
        for first, second, there, back in zip(frames[:-1], frames[1:], forward, backward, strict=True):
            cls.flows[first.tobytes(), second.tobytes()] = there.astype(np.float32)
            cls.flows[second.tobytes(), first.tobytes()] = back.astype(np.float32)


@pytest.fixture(name="given")
def listed(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Given]]:
    """Lists the flow ``given`` among the others."""
    monkeypatch.setattr(FLOWS, "_addresses", {**FLOWS.addresses(), "given": f"{__name__}:Given"})
    Given.calls = 0
    yield Given
    Given.flows.clear()
