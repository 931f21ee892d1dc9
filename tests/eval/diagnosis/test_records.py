from __future__ import annotations

from inpaintbench.eval.comparing.factors import Factor
from inpaintbench.eval.comparing.looked_at import Effect
from inpaintbench.eval.results.quantity import Quantity

SIZE = Factor("size", "paired", ("low", "high"), "low to high")


def test_an_effect_is_told_by_its_p_and_better_in_the_direction_of_its_metric() -> None:
    loses = Effect("factor", Quantity("psnr", "hole"), "telea", value=-4.0, n=(24, 24), n_sources=(12, 12), reach=1.0, p=0.01,
                   factor=SIZE, levels=("low", "high"))  # fmt: skip
    assert (loses.told, loses.low, loses.high, loses.better) == (True, -5.0, -3.0, False)
    assert loses._replace(quantity=Quantity("mse", "hole")).better
    assert not loses._replace(p=0.05).told
