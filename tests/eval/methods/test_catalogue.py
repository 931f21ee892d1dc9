from __future__ import annotations

from pathlib import Path

import pytest

from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.methods import METHODS


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"saved_folder"}))
def test_every_method_runs_the_contract_but_the_one_that_fills_nothing(name: str) -> None:
    text = Path(__file__).with_name(f"test_{name}.py").read_text()
    assert f'class TestContract(MethodContract):\n    name = "{name}"' in text


def test_a_misspelt_method_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'telea'"):
        METHODS.get("tealea")
