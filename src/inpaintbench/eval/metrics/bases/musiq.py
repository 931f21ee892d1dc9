"""What metrics of MUSIQ have in common: the parameters of the head that their constants name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from inpaintbench.eval.metrics.base import SingleRegionMetric, Where
from inpaintbench.models.musiq import HEADS, check_head


class MusiqMetric(SingleRegionMetric):
    """Base of metrics that rate whole frames by MUSIQ.

    Args:
        head: one of ``inpaintbench.models.musiq.HEADS``.
    """

    unit = ""
    higher_is_better = True

    def __init__(self, *, head: str, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.head = check_head(head)

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The head's."""
        return (HEADS[check_head(constants["head"])],)
