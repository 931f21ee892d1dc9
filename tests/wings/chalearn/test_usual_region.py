from __future__ import annotations

from tests.eval.analysis.test_same_as_report import check_usual_region


def test_of_clips_without_their_text_what_is_spoilt_elsewhere_counts() -> None:
    check_usual_region("decaption/corrected", {"psnr": "frame", "pcons": "hole", "lpips": "frame"})
