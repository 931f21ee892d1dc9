"""A study of people in `view`: votes as quantities, the ranking, what raters saw; nobody is named, nothing is written."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import cv2
import numpy as np
import pytest
from studies_made import write_study
from tests.workbench.conftest import _served
from tests.workbench.test_in_browser import LOADED, PLAYS, opened

from inpaintbench import video
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.outcomes.judgements import import_judgements
from inpaintbench.annotate.study import Study
from inpaintbench.errors import InpaintBenchError
from inpaintbench.table_files import csv_text
from inpaintbench.workbench import exporting
from inpaintbench.workbench.server import Bench, Server

METHODS = ("deep", "flow", "patch")
QUERY = {"study": ["0/removal"]}
PAIRS, GRADES = "better/share won", "quality/mean answer"


def vote(folder: Path, study: Study, names: Sequence[str]) -> None:
    """Who comes first in the order of names wins every pair, and is graded best."""
    rows: list[tuple[str, ...]] = [("rater", "task_id", "choice")]
    for task in study.tasks:
        best = str(5 - METHODS.index(task.candidates[0]))
        rows += [(name, task.task_id, min(task.candidates) if len(task.candidates) > 1 else best) for name in names]
    (folder.parent / "votes.csv").write_text(csv_text(rows))
    with Journal(folder / "journal.sqlite") as journal:
        journal.register(study.study_id, title=study.file.title)
        import_judgements(folder.parent / "votes.csv", study, journal, at=1.7e9)


@pytest.fixture(scope="module")
def voted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Study]:
    folder = tmp_path_factory.mktemp("studies") / "shown" / "removal"
    questions: list[dict[str, Any]] = [{"leaf": "pairwise", "name": "better"}, {"leaf": "mean_opinion", "name": "quality"}]
    study = write_study(folder, questions, subjects=21)
    vote(folder, study, ["Ann Secret", "Bob Hidden"])
    return folder, study


@pytest.fixture
def bench(voted: tuple[Path, Study], tmp_path: Path) -> Bench:
    return Bench([voted[0].parent], tmp_path)


@pytest.fixture(scope="module")
def shown(voted: tuple[Path, Study]) -> Iterator[Server]:
    yield from _served(voted[0].parent)


def test_votes_are_quantities_of_every_item_and_method(bench: Bench) -> None:
    joined = bench.joined(QUERY)
    assert (joined.kind, len(joined.ids), joined.default) == ("study", 21, PAIRS)
    assert joined.sentences == ["A study: 252 votes of 2 people on 21 items."]
    for name, share, grade in zip(METHODS, (1.0, 0.5, 0.0), (5, 4, 3), strict=True):
        assert set(joined.values[PAIRS, name]) == {share}
        assert set(joined.values[GRADES, name]) == {grade}
        assert set(joined.values["better/votes", name]) == {4}
        assert set(joined.values["quality/votes", name]) == {2}


def test_the_ranking_follows_what_is_shown(bench: Bench) -> None:
    rows = bench.leads(QUERY, {"key": PAIRS, "base": "", "items": list(range(21))})["rows"]
    assert [row["mean"]["mean"] for row in rows] == [1.0, 0.5, 0.0]
    assert rows[0]["note"].endswith("84 votes")
    assert rows[0]["note"].startswith("rank 1")
    few = bench.leads(QUERY, {"key": PAIRS, "base": "", "items": [0, 1]})["rows"]
    assert few[0]["note"] == "8 votes"


def test_raters_have_pseudonyms_and_their_words_stand_with_the_item(bench: Bench) -> None:
    shown = bench.shown({**QUERY, "item": ["subject00001"], "methods": ["flow", "patch"]})
    assert shown["judged"][0] == "rater-001, Better (deep or flow): deep"
    assert len(shown["judged"]) == 12
    assert not any("Secret" in words or "Hidden" in words for words in shown["judged"])
    assert [one["label"] for one in shown["players"]] == ["flow", "patch", "truth", "input"]
    film = bench.folders.place(shown["media"]["url"].removeprefix("/files/"))
    assert film.suffix == ".mp4"
    assert bench.thumb({**QUERY, "item": ["subject00001"], "methods": ["flow"]}).stat().st_size > 0


def test_what_raters_saw_is_sent_where_the_dataset_is_not(bench: Bench) -> None:
    """Film, frame and page are cut from the study's own files; errors of these are not told, and it says so."""
    query = {**QUERY, "item": ["subject00001"], "methods": ["flow", "patch"]}
    shown = bench.shown(query)
    sheet = video.read_frames(bench._sheet(shown))
    film = video.read_frames(bench.film_file(query))
    assert len(film) == len(sheet)
    assert film[0].size > sum(one["width"] * one["height"] * 3 for one in shown["players"])
    frame = cv2.imdecode(np.frombuffer(bench.frame(query | {"frame": ["1"]}), np.uint8), cv2.IMREAD_COLOR)[..., ::-1]
    tile = shown["players"][0]
    larger = -(-280 // tile["width"])
    first = frame[24:, : larger * tile["width"]][: larger * tile["height"] : larger, ::larger]
    assert (first == sheet[1, tile["y"] :, tile["x"] :][: tile["height"], : tile["width"]]).all()
    data = json.loads(re.search(r'id="page-data"[^>]*>(.*?)</script>', _page(bench, query), re.S)[1])
    assert data["sheet"]["media"]["url"].startswith("data:video/mp4;base64,")
    assert (shown["caption"], bench.joined(QUERY).root) == ("", "")
    assert "errors and differences would be of that too" in bench.shown({**query, "manner": ["error"]})["caption"]


def _page(bench: Bench, query: dict[str, list[str]]) -> str:
    asked = {"items": [0, 1], "film": urlencode(query, doseq=True)}
    return exporting.page(bench.joined(query), asked, sheet_of=bench.carried)


def test_a_study_is_read_again_when_people_voted_and_nothing_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "shown" / "removal"
    study = write_study(folder, [{"leaf": "pairwise", "name": "better"}], subjects=3)
    bench = Bench([folder.parent], tmp_path)
    assert bench.joined(QUERY).sentences == ["A study: 0 votes of 0 people on 3 items."]
    vote(folder, study, ["Ann"])
    before = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}
    assert bench.joined(QUERY).sentences == ["A study: 9 votes of 1 person on 3 items."]
    assert {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()} == before
    vote(folder, study, ["Ann", "Bob"])
    assert bench.joined(QUERY).sentences == ["A study: 18 votes of 2 people on 3 items."]


def test_the_name_of_a_study_leads_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "shown" / "removal"
    vote(folder, write_study(folder, [{"leaf": "pairwise", "name": "better"}], subjects=1), ["Ann"])
    outside = tmp_path / "outside" / "mine.journal"
    outside.parent.mkdir()
    outside.write_text("mine")
    told = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps({**told, "study_id": str(outside.with_suffix(""))}))
    (tmp_path / "cache").mkdir()
    with suppress(InpaintBenchError):
        Bench([folder.parent], tmp_path / "cache").joined(QUERY)
    assert outside.read_text() == "mine"


def test_a_journal_elsewhere_is_not_looked_into(tmp_path: Path) -> None:
    folder = tmp_path / "shown" / "removal"
    vote(folder, write_study(folder, [{"leaf": "pairwise", "name": "better"}], subjects=1), ["Ann"])
    (folder / "journal.sqlite").rename(tmp_path / "elsewhere.sqlite")
    (folder / "journal.json").write_text(json.dumps({"database": str(tmp_path / "elsewhere.sqlite")}))
    (tmp_path / "cache").mkdir()
    sentences = Bench([folder.parent], tmp_path / "cache").joined(QUERY).sentences
    assert sentences[1:] == [f"The answers lie in {tmp_path / 'elsewhere.sqlite'}, which is not looked into from here."]
    assert "0 votes" in sentences[0]


def test_the_log_of_a_writer_that_was_killed_stays(tmp_path: Path) -> None:
    made, folder = tmp_path / "made" / "removal", tmp_path / "shown" / "removal"
    study = write_study(made, [{"leaf": "pairwise", "name": "better"}], subjects=3)
    with Journal(made / "journal.sqlite") as open_one:
        open_one.register(study.study_id, title=study.file.title)
        vote(made, study, ["Ann"])
        shutil.copytree(made, folder)  # what one leaves who is killed
    assert (folder / "journal.sqlite-wal").stat().st_size > 0
    before = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}
    (tmp_path / "cache").mkdir()
    assert Bench([folder.parent], tmp_path / "cache").joined(QUERY).sentences == ["A study: 9 votes of 1 person on 3 items."]
    assert {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()} == before


def test_a_damaged_journal_is_one_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "shown" / "removal"
    write_study(folder, [{"leaf": "pairwise", "name": "better"}], subjects=1)
    (folder / "journal.sqlite").write_bytes(b"no database" * 100)
    bench = Bench([folder.parent], tmp_path)
    with pytest.raises(InpaintBenchError, match="cannot be copied"):
        bench.joined(QUERY)
    assert [one["kind"] for one in bench.listed()["things"]] == ["study"]


def test_a_study_that_is_asked_for_several_times_at_once_is_read_once(shown: Server, tmp_path: Path) -> None:
    bench = Bench(shown.bench.folders.roots, tmp_path)
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: bench.joined({"study": ["0/removal"]}), range(6)))
    assert len({id(one) for one in found}) == 1


def test_a_study_opens_in_the_same_table_and_player(browser: Any, shown: Server) -> None:
    tab = opened(browser, shown)
    tab.page.locator("button.open[data-key='0/removal']").click()
    tab.page.wait_for_function(LOADED, timeout=120_000)  # what reads a journal is imported first
    heads = tab.page.locator(".rows thead th").all_inner_texts()
    assert {*METHODS} <= {head.strip(" ↑↓") for head in heads}
    tab.page.locator("tr[data-item]").first.click()
    tab.page.wait_for_function(PLAYS)
    assert {"deep", "flow", "truth"} <= set(tab.page.locator(".pane .name").all_inner_texts())
    assert tab.page.locator("[data-judged] li").first.inner_text().startswith("rater-001, Better")
    assert "Secret" not in tab.page.content()
    tab.page.locator("[data-bar] [name=metric]").select_option("quality")
    tab.page.wait_for_function("() => document.querySelector('[data-leads] td b')?.textContent === '5.00'")
    assert tab.complaints == []
    tab.context.close()
