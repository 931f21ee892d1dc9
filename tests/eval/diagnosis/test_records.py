from __future__ import annotations

from inpaintbench.eval.comparing.factors import Factor
from inpaintbench.eval.diagnosis.records import FactorEffect
from inpaintbench.eval.results.quantity import Quantity

SIZE = Factor("size", "paired", ("low", "high"), "low to high")


def test_an_effect_is_told_by_its_p_and_better_in_the_direction_of_its_metric() -> None:
    loses = FactorEffect(SIZE, "low", "high", Quantity("psnr", "hole"), "telea", "", -4.0, 1.0, 0.01, 24, 12)
    assert (loses.told, loses.low, loses.high, loses.better) == (True, -5.0, -3.0, False)
    assert loses._replace(quantity=Quantity("mse", "hole")).better
    assert not loses._replace(p=0.05).told
