"""What pages say of items that others show, and of methods that may have used it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.eval.report.hand_made import SLICES, VALUES, FlatMedia, dataset, scores

from inpaintbench.eval.analysis.means import means_of
from inpaintbench.eval.analysis.write import write_analysis
from inpaintbench.eval.comparing.looked_at import effects_of
from inpaintbench.eval.comparing.ranking import RunStandings, ranked_quantities
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report import write_report
from inpaintbench.eval.report.tables import score_table
from inpaintbench.eval.results.cautions import exposure_sentences, shown_to
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.effort import Effort
from inpaintbench.frozen import SHOWN
from inpaintbench.pages.tables import comma_separated, latex
from inpaintbench.types import Dataset

CORRECTED = PROTOCOLS.get("devil/corrected")
PSNR = Quantity("psnr", "hole")
SHARES = {"a1": 0.9, "b1": 0.05, "a2": 0.0, "c1": 0.5}
LEVELS = {"good": 30.0, "bad": 20.0, "odd": 25.0}
WORDS = {"good": "depends", "bad": "apart", "odd": "unwatched"}
DEPENDS = "good depends on what it saw before: some items had other pixels when they were run again after others."
NO_PLACE = f"{DEPENDS.removesuffix('.')}; it holds no place and makes no finding."
UNWATCHED = "odd was made where nobody could watch what was kept of one item for another."


def exposed(shares: Mapping[str, float | None]) -> Dataset:
    plain = dataset(SLICES)
    return replace(plain, items=tuple({**row, SHOWN: shares[row["item_id"]]} for row in plain.items))


def results(shares: Mapping[str, float | None], words: Mapping[str, str]) -> Results:
    efforts = {method: Effort(between_items=word) for method, word in words.items()}
    return Results(exposed(shares), scores(VALUES), protocol=CORRECTED, efforts=efforts)


def test_the_mean_over_items_not_shown_stands_beside_that_over_all() -> None:
    found = results(SHARES, WORDS)
    table = score_table(found, PSNR)
    heads = [column.label for column in table.columns]
    assert heads[:3] == ["Method", "All items", "Not shown by others"]
    assert {str(row.cells[0].text): row.cells[2].value for row in table.rows}["good"] == (32 + 18) / 2
    assert found.unexposed is not None
    assert found.unexposed.item_ids == ("b1", "a2")
    sentence = (
        "2 of 4 items share a clip with others, whose inputs show more than 5 % of what the hole hides (36 % on "
        "average over all): a method that remembers inputs could copy it; means over the other 2 stand beside those over all."
    )
    assert exposure_sentences(found) == [sentence, UNWATCHED, NO_PLACE]
    for text in (latex(table).replace(r"\%", "%"), comma_separated(table)):
        assert "Not shown by others" in text
        assert "depends on what it saw before" in text
    # The share stands beside the mean of whom nobody could watch, and of nobody else.
    assert [shown_to(found, found.everything, method) for method in ("bad", "good", "odd")] == [None, 0.3625, 0.3625]
    below = {str(row.cells[0].text): str(row.cells[1].below) for row in table.rows}
    assert "36 % shown" in below["good"]
    assert "shown" not in below["bad"]
    assert {str(row.cells[0].text): [tag.text for tag in row.cells[0].tags] for row in table.rows} == {
        "good": ["depends on what it saw before"], "bad": [], "odd": [],
    }  # fmt: skip


@pytest.mark.parametrize("shares", [dict.fromkeys(SHARES, 0.04), dict.fromkeys(SHARES)])
def test_nothing_is_said_where_nothing_shows_or_nobody_knows(shares: dict[str, float | None]) -> None:
    found = results(shares, {"good": "apart", "bad": "stateless", "odd": "unwatched"})
    assert exposure_sentences(found) == []
    assert "Not shown by others" not in [column.label for column in score_table(found, PSNR).columns]
    assert shown_to(found, found.everything, "odd") is None


def test_who_is_found_to_keep_something_is_named_where_nothing_shows_too() -> None:
    assert exposure_sentences(results(dict.fromkeys(SHARES), {"good": "depends"})) == [DEPENDS]


def test_where_all_items_share_clips_no_mean_is_over_others() -> None:
    found = results(dict.fromkeys(SHARES, 1.0), {"good": "apart"})
    assert found.unexposed is None
    assert exposure_sentences(found) == [
        "4 of 4 items share a clip with others, whose inputs show more than 5 % of what the hole hides (100 % on "
        "average over all): a method that remembers inputs could copy it; no item is without it."
    ]


def test_who_is_found_to_depend_holds_no_place_and_makes_no_finding_unless_nothing_shows() -> None:
    names = [f"{letter}1" for letter in "abcdefghijkl"]
    plain = dataset({"size-low": names[:6], "size-high": names[6:]})
    own = scores({
        method: {name: level + at % 3 + 6 * (at > 5) for at, name in enumerate(names)} for method, level in LEVELS.items()
    })  # fmt: skip
    efforts = {"good": Effort(between_items="depends")}
    for share, placed in ((0.5, False), (0.05, True)):
        shown = replace(plain, items=tuple({**row, SHOWN: share} for row in plain.items))
        found = Results(shown, own, protocol=CORRECTED, efforts=efforts)
        assert ("good" in found.contenders, "good" in found.aside) == (placed, not placed)
        for part in (found.everything, *found.slices):
            assert (found.places(part, PSNR)["good"] is not None) == placed
            assert placed or "good" not in found.best(part, PSNR)
        assert any("good" in (effect.one, effect.other) for effect in effects_of(found)) == placed
        table = score_table(found, PSNR)
        assert [str(row.cells[0].text) for row in table.rows if row.kind == "floor"] == ([] if placed else ["good"])
        assert not any(row.cells[0].reference for row in table.rows)
        means = means_of(found)
        assert means.contenders == found.contenders
        assert means.named("good") == ("good" if placed else "good (no place)")


@pytest.mark.parametrize("shares", [SHARES, dict.fromkeys(SHARES, 0.05)])
def test_the_analysis_says_it(tmp_path: Path, shares: dict[str, float | None]) -> None:
    found = results(shares, WORDS)
    told = exposure_sentences(found)
    assert len(told) == (3 if shares == SHARES else 1)
    write_analysis(tmp_path / "out", means_of(found))
    for name in ("analysis.html", "analysis.json", "table_1.md"):
        text = (tmp_path / "out" / name).read_text()
        assert all(sentence in text for sentence in told), name


def test_rank_says_it(capsys: pytest.CaptureFixture[str]) -> None:
    found = results(SHARES, WORDS)
    standing = RunStandings(found, found.everything, ranked_quantities(found, None, None))
    remarks = list(standing.remarks())
    assert NO_PLACE.removesuffix(".") in remarks
    assert "good has no mean place: it depends on what it saw before" in remarks
    assert "psnr over the items not shown by others: bad 10.0000 (n 2), odd inf (n 1), good 25.0000 (n 2)" in remarks
    assert standing.plain()["between_items"] == WORDS
    assert standing.plain()["shown_by_other_inputs"] == {"known": 4, "above": 2, "mean": 0.3625}


def test_the_report_says_it(tmp_path: Path) -> None:
    files = write_report(
        tmp_path / "out", title="Hand-made", dataset=exposed(SHARES), scores=scores(VALUES), protocol=CORRECTED,
        media=FlatMedia(absent=["odd"]), efforts={method: Effort(between_items=word) for method, word in WORDS.items()},
    )  # fmt: skip
    page = files.page.read_text()
    for words in ("2 methods beside 1 without a place on 4 items", NO_PLACE, UNWATCHED, "Not shown by others", "Between items",
                  "was run by processes none of which saw two items of one clip: bad"):  # fmt: skip
        assert words in page, words
    told = json.loads((tmp_path / "out" / "report.json").read_text())
    assert told["shown_by_other_inputs"] == {"known": 4, "above": 2, "mean": 0.3625}
    assert told["efforts"]["good"] == {"between_items": "depends"}
    summary = list(csv.DictReader(io.StringIO((tmp_path / "out" / "summary.csv").read_text())))
    means = {row["method"]: row["mean"] for row in summary if (row["slice"], row["metric"]) == ("not shown by others", "psnr")}
    assert float(means["good"]) == 25.0
