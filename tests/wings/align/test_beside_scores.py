"""What the report says beside a metric of its agreement with people."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tests.eval.report.hand_made import SLICES, VALUES, dataset, scores

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report.page import parts_of
from inpaintbench.eval.results.cautions import judge_sentences
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.wings.align.agreement import FOLDER, Agreement
from inpaintbench.wings.align.align import align
from inpaintbench.wings.align.page import write_alignment
from inpaintbench.wings.align.reading import Answers, Ballot, measured_of

CORRECTED = PROTOCOLS.get("devil/corrected")
PSNR = Quantity("psnr", "hole")


def test_the_page_tells_it_of_these_very_scores_alone(tmp_path: Path) -> None:
    rows = scores(VALUES)
    methods = sorted({row.method for row in rows})[:2]
    items = sorted({row.item_id for row in rows})
    votes = Answers(
        tuple(
            Ballot(dimension="looks", item=item, source=item, candidates=tuple(methods), choice=methods[0], rater=rater)
            for item in items
            for rater in ("r1", "r2")
        )
    )
    found = align(votes, measured_of(rows), tie_quantile=0.1, fingerprint=CORRECTED.fingerprint)
    write_alignment(tmp_path / FOLDER, found)
    [said] = Agreement.of_run(tmp_path, CORRECTED.fingerprint, rows).sentences(PSNR)
    line = next(one for one in found.dimensions[0].lines if one.metric == "psnr/hole")
    assert said.startswith("PSNR in the hole agrees with people in ")
    assert f"{line.matched.rate.n} answers to “looks”" in said
    assert "a rater agrees with the others in 100.0 %" in said
    assert Agreement.of_run(tmp_path, "another", rows).sentences(PSNR) == []
    # Values of a method that nobody compared change nothing, another value of one that was compared does.
    other, same = (
        [
            replace(row, value=row.value + 1) if (row.method in methods) == compared and row.value is not None else row
            for row in rows
        ]
        for compared in (True, False)
    )
    assert Agreement.of_run(tmp_path, CORRECTED.fingerprint, same).sentences(PSNR) == [said]
    [changed] = Agreement.of_run(tmp_path, CORRECTED.fingerprint, other).sentences(PSNR)
    assert changed.startswith("These are not the values that were compared with people's answers")
    results = Results(dataset(SLICES), rows, protocol=CORRECTED, run=tmp_path)
    shown = {quantity: sentences for quantity, _, sentences, _ in parts_of(results, [], title="any")["scores"]}
    assert shown[PSNR] == [said]
    without = parts_of(Results(dataset(SLICES), rows, protocol=CORRECTED), [], title="any")["scores"]
    assert all(sentences == [] for _, _, sentences, _ in without)


def test_a_judge_without_votes_says_that_nobody_knows(tmp_path: Path) -> None:
    [said] = Agreement.of_run(tmp_path, "any").sentences(Quantity("judge", "frame"))
    assert "is not known here" in said
    assert "`inpaintbench eval align" in said
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "alignment.json").write_text(json.dumps(["torn"]))
    assert Agreement.of_run(tmp_path, "any").sentences(PSNR) == []


def test_the_page_names_the_judge() -> None:
    judge = Quantity("judge", "hole")
    rows = [replace(row, metric="judge", details={"model": "made-up-7b", "seed": 3}) for row in scores(VALUES)]
    assert judge_sentences(rows, judge) == ["The judge was made-up-7b (seed 3)."]
    assert judge_sentences([replace(row, details={}) for row in rows], judge) == []
    assert judge_sentences(rows, PSNR) == []
