from __future__ import annotations

import csv
import html
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.eval.report.hand_made import SLICES, VALUES, FlatMedia, copied_slices, copied_values, dataset, scores

from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report import ReportFiles, write_report
from inpaintbench.eval.scoring.effort import Effort, ItemEffort

CORRECTED = PROTOCOLS.get("devil/corrected")


def write(folder: Path, *, values: Any = VALUES, slices: Any = SLICES, **changes: Any) -> ReportFiles:
    arguments = {
        "title": "Hand-made",
        "dataset": dataset(slices, left_out={"water-low": "no clip has a label"}),
        "scores": scores(values),
        "protocol": CORRECTED,
        "media": FlatMedia(absent=["odd"]),
    }
    return write_report(folder, **{**arguments, **changes})


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ReportFiles:
    return write(tmp_path_factory.mktemp("report") / "out")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_everything_is_in_one_page_with_data_beside_it(report: ReportFiles) -> None:
    assert sorted(path.name for path in report.page.parent.iterdir()) == [
        "diagnosis.csv",
        "report.html",
        "report.json",
        "scores.csv",
        "summary.csv",
    ]
    assert report.media == ()
    assert "Everything is inside this one file" in report.page.read_text()


def test_what_methods_took_and_how_their_tasks_differ_is_told(report: ReportFiles, tmp_path: Path) -> None:
    assert "What each method took" not in report.page.read_text()
    first, second = list(VALUES)[:2]
    efforts = {
        first: Effort(
            4,
            0.0125,
            900,
            None,
            "4 cores",
            30.25,
            33.5,
            ("Works at 432x240 & back.",),
            25.5,
            28.0,
            of_items=(ItemEffort("a1", 20, 0.25, 900, None, "4 cores"),),
        ),
        second: Effort(4, 12.5, 3072, 20480, "4 cores, Card"),
        "nobody": Effort(),
    }
    files = write(tmp_path / "out", efforts=efforts)
    page = files.page.read_text()
    for words in ("What each method took", "0.0125", "900 MiB", "12.5", "3.0 GiB", "20.0 GiB", "lossy, at most 33.5 dB",
                  "Works at 432x240 &amp; back.", "inputs written alike keep 30.2 to 33.5 dB", 'href="#effort"',
                  "known pixels 25.5 dB",
                  "It gives known pixels 25.5 to 28.0 dB from the input"):  # fmt: skip
        assert words in page, words
    (row,) = rows(files.page.with_name("efforts.csv"))
    assert row == {
        "method": first, "item_id": "a1", "frames": "20", "seconds": "0.25", "peak_mebibytes": "900", "card_mebibytes": "",
        "machine": "4 cores",
    }  # fmt: skip
    assert json.loads(files.data.read_text())["efforts"] == {
        first: {"items": 4, "seconds_a_frame": 0.0125, "peak_mebibytes": 900, "machine": "4 cores", "ceiling_low": 30.25,
                "ceiling_high": 33.5, "known_low": 25.5, "known_high": 28.0, "task": ["Works at 432x240 & back."]},
        second: {"items": 4, "seconds_a_frame": 12.5, "peak_mebibytes": 3072, "card_mebibytes": 20480,
                 "machine": "4 cores, Card"},
    }  # fmt: skip


def test_edits_are_shown_beside_the_original_with_their_prompts(tmp_path: Path) -> None:
    given = dataset(SLICES)
    prompts = {"source_prompt": "a cat", "target_prompt": "a <b>blue</b> cat"}
    edits = replace(given, items=tuple({**row, **prompts} for row in given.items))
    page = write(tmp_path / "out", dataset=edits, media=FlatMedia(with_hole=False, absent=["odd", "input"])).page.read_text()
    assert "“a cat” → <b>“a &lt;b&gt;blue&lt;/b&gt; cat”</b>" in page
    sheet = json.loads(html.unescape(re.findall(r'data-sheet="([^"]*)"', page)[0]))
    assert [one["label"] for one in sheet["players"] if one["role"] != "candidate"] == ["Original"]
    assert "the original and every result, in step." in page


def test_every_score_is_a_row(report: ReportFiles) -> None:
    found = rows(report.scores)
    assert len(found) == 12
    by_item = {(row["method"], row["item_id"]): row for row in found}
    assert by_item["good", "b1"]["value"] == "32.0"
    assert by_item["odd", "a1"]["value"] == "inf"
    assert (by_item["odd", "a2"]["value"], by_item["odd", "a2"]["reason"]) == ("", "the program ended with status 3")


def test_summaries_carry_means_and_counts(report: ReportFiles) -> None:
    by_slice = {(row["slice"], row["method"]): row for row in rows(report.summary)}
    good = by_slice["motion-low", "good"]
    columns = ("mean", "standard_error", "interval_low", "interval", "n", "place")
    assert [good[name] for name in columns] == ["30.0", "", "", "", "2", ""]
    assert good["reason"] == "2 sources: an interval, rank or lead needs at least 6"
    odd = by_slice["all items", "odd"]
    assert [odd[name] for name in ("mean", "n", "n_infinite", "n_missing")] == ["inf", "2", "2", "2"]
    assert len(by_slice) == 12


def test_summaries_of_six_sources_carry_intervals_and_how_they_were_made(tmp_path: Path) -> None:
    made = write(tmp_path / "out", values=copied_values(VALUES), slices=copied_slices(SLICES), further_items=0)
    good = next(row for row in rows(made.summary) if (row["slice"], row["method"]) == ("motion-low", "good"))
    low, high, error = (float(good[name]) for name in ("interval_low", "interval_high", "standard_error"))
    assert low < 30 < high
    assert error > 0
    assert (good["place"], good["interval"], good["reason"]) == ("2", "sources: jackknife, t or bootstrap-t", "")
    assert "leaves out one source at a time" in json.loads(made.data.read_text())["interval"]


def test_the_json_says_what_the_page_says(report: ReportFiles) -> None:
    data = json.loads(report.data.read_text())
    assert data["fingerprint"] == CORRECTED.fingerprint
    assert data["left_out"] == {"water-low": "no clip has a label"}
    assert [(one["method"], one["item_id"]) for one in data["failures"]] == [("odd", "a2"), ("odd", "c1")]
    shares = {one["method"]: one["share"] for one in data["relative_improvement"]}
    assert shares == {"good": pytest.approx(-1 / 3), "bad": 0.5, "odd": None}


def test_equal_input_gives_equal_bytes(report: ReportFiles, tmp_path: Path) -> None:
    again = write(tmp_path / "elsewhere")
    for name in ("page", "scores", "summary", "data"):
        assert getattr(report, name).read_bytes() == getattr(again, name).read_bytes(), name


def test_beyond_the_limit_videos_lie_beside_the_page(tmp_path: Path) -> None:
    files = write(tmp_path / "out", inline_limit_bytes=1000)
    assert [path.name for path in files.media] == ["exhibit-0.mp4", "exhibit-1.mp4", "exhibit-2.mp4", "exhibit-3.mp4"]
    page = files.page.read_text()
    assert all(path.is_file() and f'src="media/{path.name}"' in page for path in files.media)
    assert "The videos lie in the folder media/ beside this file" in page
    assert "data:video" not in page


def test_a_report_replaces_an_earlier_one_whole(tmp_path: Path) -> None:
    write(tmp_path / "out", inline_limit_bytes=1000)
    write(tmp_path / "out", gallery_items_per_slice=0, further_items=0)
    assert not (tmp_path / "out" / "media").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="holds something else than a report"):
        write(tmp_path / "out")
    assert (tmp_path / "out" / "thesis.tex").read_text() == "years of work"


def test_a_failure_on_the_way_leaves_the_earlier_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = write(tmp_path / "out").page.read_bytes()

    def full(path: Path, data: bytes) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("inpaintbench.eval.report.write.write_atomically", full)
    with pytest.raises(WorkspaceError, match="cannot be written: No space left on device"):
        write(tmp_path / "out", title="Another")
    assert (tmp_path / "out" / "report.html").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["truth", "input", "outline", "mask"])
def test_methods_cannot_take_names_of_the_gallery(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=f"cannot be named '{name}'"):
        write(tmp_path / "out", values={name: {"a1": 1.0}})


@pytest.mark.parametrize(
    ("values", "slices"),
    [
        ({"only": {"a1": 20.0, "b1": 30.0}}, {"x-low": ["a1"], "x-high": ["b1"]}),
        ({"only": {"a1": 20.0}}, {"x": ["a1"]}),
        ({"one": {"a1": None}, "two": {"a1": None}}, {"x-low": ["a1"], "x-high": ["a1"]}),
        ({"one": {"a1": float("inf")}, "two": {"a1": float("inf")}}, {"x-low": ["a1"], "x-high": ["a1"]}),
        ({"one": {"a1": 20.0}}, {}),
        ({"one": {"a1": 20.0}}, {"x-low": [], "x-high": []}),
    ],
    ids=["one method", "one item", "all missing", "all infinite", "no slices", "empty slices"],
)
def test_small_and_odd_datasets_have_reports(tmp_path: Path, values: Any, slices: Any) -> None:
    files = write(tmp_path / "out", values=values, slices=slices)
    page = files.page.read_text()
    assert not re.search(r"\bnan\b|NaN|undefined|[>\"]None[<\"]", re.sub(r"<(script|style).*?</\1>", "", page, flags=re.S))
    assert "nan" not in files.summary.read_text()
    assert json.loads(files.data.read_text())["methods"] == list(values)
