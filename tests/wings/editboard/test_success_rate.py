from __future__ import annotations

import pytest
from tests.eval.metrics.test_success_rate import TARGET, metric, tiny
from tiny_networks import edited, noise

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.types import Prompts

__all__ = ["tiny"]


@pytest.mark.parametrize(("protocol", "share"), [("as-published", 1.0), ("paper", 0.0), ("corrected", 0.5)])
def test_a_tie_is_a_success_for_the_released_code_none_for_the_paper_and_half_a_one_corrected(
    protocol: str, share: float
) -> None:
    constants = PROTOCOLS.get(f"editboard/{protocol}").metrics["success_rate"]
    found = metric(**{**constants, "network": "tiny"}).measure(edited(noise(3, 40, 40), Prompts(TARGET, TARGET)))["frame"]
    assert found.value == share
