"""Programs that users bring: what they are given, what is read, and what goes wrong in one sentence."""

from __future__ import annotations

from pathlib import Path

import brought
import numpy as np
import pytest

from inpaintbench.errors import NotMeasurable, Unavailable
from inpaintbench.eval.passes.brought_programs import BroughtProgram

PROGRAM = BroughtProgram("INPAINTBENCH_STUB", "writes numbers", "nobody may ship it")
FRAMES = np.random.default_rng(0).integers(0, 256, (2, 12, 17, 3), dtype=np.uint8)
MASKS = np.zeros(FRAMES.shape[:3], np.bool_)
MASKS[1, 3:5, 4:9] = True


def test_it_is_given_frames_masks_and_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = "told = {**item, 'sums': [int(one.sum()) for one in frames], 'masks': [int((one > 0).sum()) for one in masks]}\n"
    brought.give(PROGRAM, told + "(target / 'numbers.json').write_text(json.dumps(told))", tmp_path, monkeypatch)
    assert PROGRAM.numbers(FRAMES, MASKS, fps=25.0, item_id="a") == {
        "item_id": "a", "fps": 25.0, "frames": 2, "sums": [int(one.sum()) for one in FRAMES], "masks": [0, 10],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", r"wrote no array\.npy"),
        ("(target / 'array.npy').write_bytes(b'torn')", "NumPy cannot read"),
        ("np.save(target / 'array.npy', np.zeros((3, 4)))", r"wrote an array of \(3, 4\), wanted \(any, 5\)"),
        ("np.save(target / 'array.npy', np.full((3, 5), np.nan))", "numbers that are not finite"),
        ("sys.exit('no card here')", "no card here"),
    ],
)
def test_a_wrong_answer_is_a_reason(body: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    brought.give(PROGRAM, body, tmp_path, monkeypatch)
    with pytest.raises(Unavailable, match=reason):
        PROGRAM.array((None, 5), FRAMES, fps=25.0, item_id="a")


def test_no_program_is_a_reason_and_another_one_another_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PROGRAM.variable, raising=False)
    with pytest.raises(NotMeasurable, match="nobody may ship it: set INPAINTBENCH_STUB to a program that writes numbers"):
        PROGRAM.numbers(FRAMES, fps=25.0, item_id="a")
    assert PROGRAM.state() == "missing"
    path = brought.give(PROGRAM, "pass", tmp_path, monkeypatch)
    before = PROGRAM.state()
    path.write_text("pass # longer")
    assert PROGRAM.state() not in ("missing", before)
    monkeypatch.setenv(PROGRAM.variable, "no-such-program-at-all")
    assert PROGRAM.state() == "missing"
    with pytest.raises(NotMeasurable, match=r"INPAINTBENCH_STUB: .*names no program"):
        PROGRAM.numbers(FRAMES, fps=25.0, item_id="a")
