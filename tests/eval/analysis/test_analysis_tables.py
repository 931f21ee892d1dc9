"""Tables and figures from hand-made scores."""

from __future__ import annotations

import csv
import math
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from tests.eval.report.hand_made import FINGERPRINT, SLICES, VALUES, dataset, scores

from inpaintbench.claims import too_few
from inpaintbench.errors import InputError
from inpaintbench.eval.analysis.means import (
    ABSENT,
    Cell,
    Means,
    Measure,
    difficulty,
    improvements,
    means_of,
    over_slices,
    places,
    published_means,
    ranking,
    table_1,
    table_2,
)
from inpaintbench.eval.analysis.write import PAGE, ranked_rows, write_analysis
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.results.quantity import Quantity, usual_quantities
from inpaintbench.eval.results.tables import Results
from inpaintbench.pages.chart import scale

AS_PUBLISHED = PROTOCOLS.get("devil/as-published")
CORRECTED = PROTOCOLS.get("devil/corrected")
FEW = too_few(2)
ERROR = Measure("error", "Error", "", 2, higher_is_better=False)
QUALITY = Measure("quality", "Quality", "dB", 1, higher_is_better=True)


def hand_made(values: dict[str, dict[str, list[float | None]]], measures: tuple[Measure, ...] = (ERROR, QUALITY)) -> Means:
    """Slice -> method -> one number for each measure."""
    cells = {
        (name, method, measure.key): Cell(value, reason=None if value is not None else "lost")
        for name, by_method in values.items()
        for method, row in by_method.items()
        for measure, value in zip(measures, row, strict=True)
    }
    methods = tuple(dict.fromkeys(method for by_method in values.values() for method in by_method))
    return Means("Hand-made", "Made by hand.", methods, tuple(values), measures, cells)


def two_slices() -> Means:
    return hand_made({
        "motion-low": {"a": [0.2, 30.0], "b": [0.4, 20.0], "c": [0.2, None]},
        "motion-high": {"a": [0.3, 33.0], "b": [0.1, 10.0], "c": [0.0, 40.0]},
    })  # fmt: skip


def test_places_and_rankings_share_ties_and_follow_the_direction() -> None:
    means = two_slices()
    assert places(means, "motion-low", ERROR) == {"a": 1, "b": 3, "c": 1}
    assert ranking(means, "motion-low", QUALITY).places == (("a", 1), ("b", 2), ("c", None))
    assert [(one.measure.key, one.slice) for one in table_2(means)] == [
        (measure, name) for measure in ("error", "quality") for name in ("motion-low", "motion-high")
    ]
    assert len(table_1(means)) == 12


def test_too_few_sources_show_values_and_no_place(tmp_path: Path) -> None:
    """Page and Markdown as in ``table_2.csv``: no order, no number of a place, and nothing is called missing that is there."""
    few = {
        ("motion-low", "telea", "error"): Cell(0.25, n_sources=2, unfit=FEW),
        ("motion-low", "blank", "error"): Cell(0.5, n_sources=2, unfit=FEW),
        ("motion-low", "absent", "error"): Cell(None, n_sources=0, reason="lost", unfit=FEW),
    }  # fmt: skip
    alone = Means("Few", "Made by hand.", ("telea", "blank", "absent"), ("motion-low",), (ERROR,), few)
    many = {("motion-high", method, "error"): Cell(value, n_sources=6) for method, value in (("telea", 0.4), ("blank", 0.1))}
    beside = Means("Both", "Made by hand.", ("telea", "blank"), ("motion-low", "motion-high"), (ERROR,), {**few, **many})
    assert [tuple(cell.replace("\u00a0", " ") for cell in row) for row in ranked_rows(alone, ERROR)] == [
        ("", "telea 0.25"),
        ("", "blank 0.50"),
        ("", "absent –"),
    ]
    assert [tuple(cell.replace("\u00a0", " ") for cell in row) for row in ranked_rows(beside, ERROR)] == [
        ("1", "telea 0.25", "blank"),
        ("2", "blank 0.50", "telea"),
    ]
    write_analysis(tmp_path / "analysis", alone)
    page = (tmp_path / "analysis" / PAGE).read_text().partition('id="table-2"')[2].partition('id="figures"')[0]
    assert "telea\u00a00.25" in page
    assert ">1<" not in page
    assert ">2<" not in page
    assert "a number is the value of a method that has no place" in " ".join(page.split())
    markdown = (tmp_path / "analysis" / "table_2.md").read_text()
    assert "|  | telea\u00a00.25 |" in markdown
    assert "| 1 |" not in markdown
    with (tmp_path / "analysis" / "table_2.csv").open() as file:
        assert {row["place"] for row in csv.DictReader(file)} == {""}


def test_improvement_is_relative_to_low_and_positive_where_high_is_better() -> None:
    found = {(one.measure.key, one.method): (one.share, one.reason) for one in improvements(two_slices())}
    assert found["error", "a"] == (pytest.approx(-0.5), None)
    assert found["error", "b"] == (pytest.approx(0.75), None)
    assert found["error", "c"] == (pytest.approx(1.0), None)
    assert found["quality", "a"] == (pytest.approx(0.1), None)
    assert found["quality", "b"] == (pytest.approx(-0.5), None)
    assert found["quality", "c"] == (None, "no value in the low slice: lost")


def test_improvement_from_zero_or_from_infinity_is_none_and_says_why() -> None:
    means = hand_made({"x-low": {"a": [0.0, math.inf]}, "x-high": {"a": [0.1, 30.0]}})
    assert [(one.share, one.reason) for one in improvements(means)] == [
        (None, "the value in the low slice is 0"),
        (None, "infinite in the low slice"),
    ]


def test_means_over_slices_and_methods_leave_out_what_is_missing_and_say_so() -> None:
    means = two_slices()
    over = over_slices(means, QUALITY)
    assert over["a"] == (31.5, pytest.approx(1.5), 2, None, False)
    assert over["c"] == (40.0, None, 1, "1 of 2 slices without a value (Motion, low)", False)
    hard = difficulty(means, QUALITY)
    assert hard["motion-low"][:3] == (25.0, pytest.approx(5.0), 2)
    assert hard["motion-low"].reason == "1 of 3 methods without a value (c)"
    assert hard["motion-high"].mean == pytest.approx(83 / 3)


def test_infinite_means_are_ranked_first_and_left_out_of_means() -> None:
    means = hand_made({"x-low": {"a": [0.1, math.inf], "b": [0.2, 30.0]}, "x-high": {"a": [0.1, 20.0], "b": [0.2, 10.0]}})
    assert ranking(means, "x-low", QUALITY).places == (("a", 1), ("b", 2))
    assert over_slices(means, QUALITY)["a"] == (20.0, None, 1, "1 of 2 slices infinite and left out (X, low)", False)


def test_a_slice_without_its_opposite_has_no_improvement() -> None:
    means = hand_made({"x-low": {"a": [0.1, 1.0]}, "night": {"a": [0.2, 2.0]}})
    assert improvements(means) == []
    assert means.half_pairs == [("x", "high")]
    assert means.cell("x-high", "a", ERROR) == ABSENT


def test_own_scores_become_means_in_the_usual_region() -> None:
    rows = [*scores({"good": {"a1": 99.0}}, region="frame"), *scores(VALUES, region="hole")]
    rows += scores(VALUES, metric="pcons", region="frame") + scores({"good": {"a1": 55.0}}, metric="pcons", region="hole")
    means = means_of(Results(dataset(SLICES, left_out={"x-low": "no clip is labelled"}), rows, protocol=CORRECTED))
    psnr, pcons = means.measures
    assert (psnr.title, pcons.title) == ("PSNR in the hole ↑ (dB)", "PCons in the hole ↑ (dB), exploratory")
    assert means.slices == ("motion-low", "motion-high", "night")
    assert means.cell("motion-low", "good", psnr)[:3] == (30.0, None, 2)
    assert means.cell("motion-low", "odd", psnr) == Cell(math.inf, None, 2, "n 2 · 2 ∞", n_sources=2, unfit=FEW)
    assert means.cell("motion-high", "odd", psnr) == Cell(
        None, None, 0, "no item has a value", n_sources=0, compared=False, unfit="it lacks 2 items that others have"
    )
    assert means.cell("night", "good", pcons) == Cell(55.0, None, 1, "n 1 · 1 missing", n_sources=1, unfit=too_few(1))
    assert means.notes == (
        "Means alone, unranked, of the slices of few sources (an interval, rank or lead needs at least 6): motion-low (2), "
        "motion-high (2), night (2).",
        "bad lacks items that others have, so it has no place and is in no mean over methods: 1 by PCons in the hole.",
        "odd lacks items that others have, so it has no place and is in no mean over methods: 2 by PSNR in the hole; "
        "1 by PCons in the hole.",
        "No x-low: no clip is labelled.",
        "PCons in the hole is diagnostic: a fill that is flat, frozen or blurred repeats from frame to frame, which PCons takes "
        "for consistency. No place for who would pass a method that is better by PSNR in the hole.",
    )
    assert FINGERPRINT in means.origin


def test_who_lacks_one_item_is_in_no_mean_over_methods() -> None:
    """Without its hardest item a method would make the slice look easier."""
    values = {"good": {"a1": 28.0, "b1": 32.0}, "bad": {"a1": None, "b1": 10.0}}
    results = Results(dataset({"motion-low": ["a1", "b1"]}), scores(values, region="hole"), protocol=CORRECTED)
    assert results.lacking(results.slices[0], Quantity("psnr", "hole")) == {"good": 0, "bad": 1}
    means = means_of(results)
    found = difficulty(means, means.measures[0])["motion-low"]
    assert (found.mean, found.n) == (30.0, 1)
    assert found.reason == "1 of 2 methods of fewer items and left out (bad)"
    assert results.difficulty(results.slices[0], Quantity("psnr", "hole")).mean == 30.0


def test_each_metric_is_taken_once() -> None:
    found = [Quantity("psnr", "hole"), Quantity("psnr", "frame"), Quantity("pcons", "hole"), Quantity("pcons", "frame")]
    assert usual_quantities([*found, Quantity("ssim", "band")], AS_PUBLISHED) == [
        ("psnr", "frame"), ("pcons", "hole"), ("ssim", "band")
    ]  # fmt: skip


def test_own_scores_give_every_file_and_gaps_have_reasons(tmp_path: Path) -> None:
    means = means_of(Results(dataset(SLICES), scores(VALUES, region="frame"), protocol=CORRECTED))
    made = write_analysis(tmp_path / "analysis", means)
    pdf = [path.with_suffix(".pdf") for path in made.figures]
    assert {made.page, *made.tables, *made.figures, *pdf} == set((tmp_path / "analysis").iterdir())
    assert all(path.read_bytes().startswith(b"%PDF") for path in pdf)
    drawn = ["figure_3", "figure_4", "improvement-attribute-motion", "improvement-metric-psnr"]
    assert [path.name for path in made.figures] == [f"{name}.svg" for name in drawn]
    page = made.page.read_text()
    gaps = re.sub(r"(<[^>]+>\s*)+", "|", page[page.index('id="gaps"') :])
    assert "|Motion, high|no item has a value|" in gaps
    assert "|Motion, improvement|" not in gaps  # it follows from the line above
    assert ">17.50 *<" in (tmp_path / "analysis" / "figure_4.svg").read_text()
    rows = list(csv.DictReader((tmp_path / "analysis" / "table_1.csv").read_text().splitlines()))
    assert len(rows) == 9
    assert rows[0] | {"metric": "psnr", "mean": "30.0", "n": "2", "place": "", "attribute": "motion", "setting": "low"} == rows[0]
    assert {row["mean"] for row in rows if row["method"] == "odd"} == {"inf", "", }  # fmt: skip
    text = (tmp_path / "analysis" / "table_1.md").read_text()
    assert r"| odd | ∞ \* |" in text
    assert r"\* odd, PSNR of the frame: n 1 · 1 ∞ · 1 missing" in text
    for path in made.figures:
        assert ElementTree.fromstring(path.read_text()).tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.long
def test_the_paper_gives_every_file_and_the_page_needs_no_network(tmp_path: Path) -> None:
    made = write_analysis(tmp_path / "paper", published_means())
    assert len(made.figures) == 2 + 5 + 5
    page = made.page.read_text()
    assert not re.search(r"(src|href)=.(https?:|//)|@import|url\(", page)
    assert "Every number is there." in page
    assert "not LPIPS" in page
    table = (tmp_path / "paper" / "table_2.md").read_text()
    assert "| 1 | OPN | DFCNet |" in table
    assert "BG scene motion, high †" in table
    heads = [line for line in (tmp_path / "paper" / "improvement.md").read_text().splitlines() if line.startswith("| Method")]
    assert [line for line in heads if "†" in line] == [
        "| Method | LPIPS of the frame † | PVCS of the frame † | FID of the frame | VFID of the frame † | PCons in the hole |"
    ]


@pytest.mark.long
def test_equal_input_gives_equal_bytes_and_an_earlier_analysis_goes_away(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    other = Measure("pvcs", "PVCS", "", 2, higher_is_better=False)
    write_analysis(folder, hand_made({"x-low": {"a": [0.1]}, "x-high": {"a": [0.2]}}, (other,)))
    assert (folder / "improvement-metric-pvcs.svg").is_file()
    made = write_analysis(folder, two_slices())
    first = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".pdf"}
    assert "improvement-metric-pvcs.svg" not in first
    write_analysis(folder, two_slices())
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".pdf"} == first
    assert made.page.name == PAGE


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.md").write_text("mine")
    with pytest.raises(InputError, match="holds something else than an analysis"):
        write_analysis(tmp_path, two_slices())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.md"]
    with pytest.raises(InputError, match="nothing to analyse"):
        write_analysis(tmp_path / "new", hand_made({}))


def test_names_from_data_are_text_everywhere(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>|\"'&"
    means = hand_made({f"{name}-low": {name: [0.1, None]}, f"{name}-high": {name: [0.2, 1.0]}})
    made = write_analysis(tmp_path / "a", means)
    for path in (made.page, *made.figures):
        assert "<script>alert" not in path.read_text()
    for path in made.figures:
        texts = [element.text for element in ElementTree.fromstring(path.read_text()).iter() if element.text]
        assert any(name in words for words in texts)
    rows = [line for line in (tmp_path / "a" / "table_1.md").read_text().splitlines() if line.startswith("| &lt;script")]
    assert len(rows) == 2
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 4 for row in rows)


def test_one_method_and_one_slice_are_enough(tmp_path: Path) -> None:
    made = write_analysis(tmp_path / "a", hand_made({"all": {"only": [0.5, 20.0]}}))
    assert [path.name for path in made.figures] == ["figure_3.svg", "figure_4.svg"]
    assert "**" not in (tmp_path / "a" / "table_1.md").read_text()


@pytest.mark.parametrize(
    ("values", "from_zero", "ticks"),
    [
        ([0.1, 0.38], True, [0.0, 0.1, 0.2, 0.3, 0.4]),
        ([-1.9, 0.4], True, [-2.0, -1.0, 0.0, 1.0]),
        ([30.2, 41.0], False, [30.0, 35.0, 40.0, 45.0]),
        ([5.0, 5.0], False, [2.0, 4.0, 6.0, 8.0]),
        ([58.92, 58.92 + 1e-14], False, [20.0, 40.0, 60.0, 80.0, 100.0]),
        ([0.0], True, [-0.5, 0.0, 0.5]),
        ([], True, [0.0, 0.5, 1.0]),
    ],
)
def test_axes_hold_all_values_between_round_ticks(values: list[float], from_zero: bool, ticks: list[float]) -> None:
    assert scale(values, from_zero=from_zero) == pytest.approx(ticks)
