"""Damage never gains a place, by any quantity of any protocol of a wing that can rank."""

from __future__ import annotations

from pathlib import Path

import pytest
from damaged_places import DAMAGES, Field, prints, ranking_metrics
from never_better import CLAIMS, EXEMPT
from of_wings import names_of_wings
from tests.eval.test_damaged_places import check_asked, field
from tests.wings.chalearn.metrics import test_never_better as of_chalearn

from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS

__all__ = ["field"]
PICTURES = [name for name in PROTOCOLS if name.startswith("fingerprint/")]
FILMED = [name for name in names_of_wings(PROTOCOLS) if ranking_metrics(PROTOCOLS.get(name)) and name not in PICTURES]
# Metrics that rank and are neither asked here nor proved to be best at the truth.
UNPROVED = {
    "success_rate": "compares with a prompt, by a network whose parameters are not here",
    "clip_similarity": "compares with a prompt, by a network whose parameters are not here",
    "reinpaint_original_psnr": "a second method stands between the result and the truth that it is compared with",
    "reinpaint_original_ssim": "a second method stands between the result and the truth that it is compared with",
    "reinpaint_original_lpips": "a second method stands between the result and the truth that it is compared with",
}


def test_every_metric_that_ranks_is_asked_or_says_why_not() -> None:
    judged = {name for name in METRICS if METRICS.get(name).by_judge}  # a model of the user's answers; see EXEMPT of "judge"
    said = {*judged, *CLAIMS, *EXEMPT, *of_chalearn.CLAIMS, *of_chalearn.EXEMPT}
    check_asked(list(PROTOCOLS), said=said, unproved=UNPROVED)


@pytest.mark.long
@pytest.mark.parametrize("name", FILMED)
def test_no_damage_gains_a_place(field: Field, name: str) -> None:
    count, found = field.gains(PROTOCOLS.get(name), kinds=tuple(DAMAGES))
    assert count >= 2 * 2 * len(DAMAGES)
    assert found == []


@pytest.mark.long
def test_no_damage_to_prints_gains_a_place(assets: Path) -> None:
    field = Field(prints(assets / "fingerprints"))
    for name in PICTURES:
        count, found = field.gains(PROTOCOLS.get(name))
        assert count >= 2 * 2 * len(DAMAGES)
        assert found == []
