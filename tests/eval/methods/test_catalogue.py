from __future__ import annotations

import re
from pathlib import Path

import pytest

from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.methods import METHODS


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"saved_folder"}))
def test_every_method_runs_the_contract_but_the_one_that_fills_nothing(name: str) -> None:
    texts = [path.read_text() for path in Path(__file__).parents[2].rglob("methods/test_*.py")]
    assert sum(bool(re.search(rf'^class Test\w+\(MethodContract\):\n    name = "{name}"$', text, re.M)) for text in texts) == 1


def test_a_misspelt_method_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'telea'"):
        METHODS.get("tealea")
