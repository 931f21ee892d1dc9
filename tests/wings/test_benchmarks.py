"""What recipes of wings say of their benchmarks."""

from __future__ import annotations

import pytest

from inpaintbench.benchmarks import BENCHMARKS
from inpaintbench.eval.protocols import usual
from inpaintbench.types import Dataset


def test_all_recipes_say_what_they_are_for() -> None:
    assert len(list(BENCHMARKS)) >= 8


@pytest.mark.parametrize(
    ("recipe", "protocol"),
    [
        ({"recipe": "reinpaint"}, "reinpaint/corrected"),
        ({"recipe": "reinpaint", "second_masks": 0}, "fingerprint/corrected"),
        ({"recipe": "editing"}, "editboard/corrected"),
        ({"recipe": "unheard of"}, "fingerprint/corrected"),
    ],
)
def test_the_usual_protocol_is_that_of_the_recipe(recipe: dict[str, object], protocol: str) -> None:
    assert usual(Dataset("", recipe, (), (), {}, {}, {})) == protocol
