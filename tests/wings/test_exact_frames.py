"""A method that is exact somewhere is never beaten by one that is spoilt everywhere, by protocols of wings."""

from __future__ import annotations

import pytest
from tests.eval.test_exact_frames import check_exact_on_half, check_noise_never_pays

from inpaintbench.eval.protocols import PROTOCOLS

CORRECTED = ("reinpaint/corrected", "decaption/corrected", "fingerprint/corrected")


@pytest.mark.parametrize("protocol", CORRECTED)
def test_noise_on_frames_that_were_exact_never_pays(protocol: str) -> None:
    check_noise_never_pays(protocol)


@pytest.mark.parametrize("protocol", CORRECTED)
def test_exact_on_half_of_the_items_beats_two_levels_off_on_all(protocol: str) -> None:
    check_exact_on_half(protocol)


def test_every_corrected_protocol_with_psnr_is_tried() -> None:
    named = {name for name in PROTOCOLS if name.endswith("/corrected") and "psnr" in PROTOCOLS.get(name).metrics}
    assert named == {"devil/corrected", *CORRECTED}
