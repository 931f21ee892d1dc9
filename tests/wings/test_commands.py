"""Commands of wings: former names, former options, and what shells complete."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.test_commands import check_first_argument, check_former, completed, place

__all__ = ["place"]


@pytest.mark.parametrize(
    ("words", "positional"),
    [
        ("leaderboard sent --out site --dataset D", ["D", "sent"]),
        ("align answers.csv --dataset D --run R", ["D", "answers.csv"]),
    ],
)
def test_the_dataset_may_still_be_an_option_and_is_told_to_be_an_argument(
    words: str, positional: list[str], place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_first_argument(words, positional, place, capsys)


@pytest.mark.parametrize("name", ["score", "grid", "stability", "selection", "paper"])
@pytest.mark.usefixtures("place")
def test_a_former_name_does_the_same_as_before_and_tells_the_name_now(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    check_former(("eval", "reinpaint", name), capsys)


CASES: dict[str, tuple[str, set[str]]] = {
    "commands of a group": ("inpaintbench eval s", {"submit"}),
    "parts of a command": ("inpaintbench eval run --for s", {"scores", "stability"}),
    "presets": ("inpaintbench build reinpaint --preset thick", {"thick-256", "thick-512"}),
}


@pytest.mark.parametrize("case", CASES)
def test_bash_completes(case: str, place: Path) -> None:
    line, wanted = CASES[case]
    assert set(completed("bash", line, cwd=place)) == wanted
