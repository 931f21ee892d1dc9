"""What `eval run --report` is asked besides, of a benchmark of re-inpainting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from inpaintbench.cli.options import Among, Positive
from inpaintbench.eval.methods import METHODS


@dataclass(frozen=True)
class SecondPass:
    """How results are inpainted again.

    Args:
        second (METHOD[,NAME=VALUE]): With --report, for benchmarks of re-inpainting: what inpaints results again (F2), for their
            self-consistency, D(F1). [default: that of `eval run --for reinpainting`]
        second_masks: With --report, for benchmarks of re-inpainting: how often a result is inpainted again (K). [default:
            that of `eval run --for reinpainting`]
    """

    asked_of: ClassVar[str] = "a benchmark of re-inpainting"

    second: Annotated[str | None, Among(METHODS)] = None
    second_masks: Positive | None = None
