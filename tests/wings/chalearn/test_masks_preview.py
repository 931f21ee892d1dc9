"""`masks preview` of a generator that degrades prints, in this process with a generator of the test's own."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_masks_preview import faded, preview

__all__ = ["faded"]


def test_degradations_are_counted_and_prints_have_their_own_size(tmp_path: Path) -> None:
    preview("faded", "--count", "1", "--out", str(tmp_path / "one.html"))
    page = (tmp_path / "one.html").read_text()
    assert "Degradations of faded" in page
    assert "1 degradation in 1 panel · 275×400 · still images" in page
    done = preview("faded", "--count", "2", "--size", "150x180", "--out", str(tmp_path / "two.html"))
    assert "2 degradations:" in done.output
    page = (tmp_path / "two.html").read_text()
    assert "· 150×180 ·" in page
    assert page.count('id="degradation-1-') == 2
    assert "none of None" in page


def test_images_are_the_backgrounds_of_prints(tmp_path: Path) -> None:
    preview("faded", "--count", "1", "--size", "150x180", "--images", str(tmp_path / "mine"), "--out", str(tmp_path / "x.html"))
    assert "photographs of mine" in (tmp_path / "x.html").read_text()
