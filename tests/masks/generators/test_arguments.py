"""Checks of constructor arguments."""

from __future__ import annotations

import math

import pytest

from inpaintbench.errors import InputError
from inpaintbench.masks.generators.base import interval, share, share_interval, whole


def test_shares_and_intervals_come_back_as_numbers() -> None:
    assert share("ratio", 1) == 1.0
    assert share_interval("ratio", 0.3) == (0.3, 0.3)
    assert share_interval("ratio", [0, 1]) == (0.0, 1.0)
    assert interval("aspect", (1, 3), least=1) == (1.0, 3.0)
    assert whole("size", 3, least=3) == 3


@pytest.mark.parametrize("value", [True, None, "0.4", math.nan, math.inf, -0.1])
def test_what_is_no_share_is_refused_by_name(value: object) -> None:
    with pytest.raises(InputError, match="ratio is"):
        share("ratio", value)  # type: ignore[arg-type]


def test_zero_and_infinity_can_be_refused() -> None:
    with pytest.raises(InputError, match="area is 0, give a share above 0 up to 1"):
        share("area", 0, zero=False)
    with pytest.raises(InputError, match=r"aspect is \[1.0, inf\], give \[low, high\] from 0.1 upwards"):
        interval("aspect", (1, math.inf), least=0.1)
    with pytest.raises(InputError, match=r"aspect is \[0.0, 1.0\]"):
        interval("aspect", (0, 1), least=0.1)
