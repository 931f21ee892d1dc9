"""What a report says and draws of a diagnosis; how it behaves is in test_effects_in_browser.py."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from typing import Any

import pytest
import vl_convert
from tests.eval.report.diagnosed import MSE, PSNR, SOURCES, diagnosis_of, paired_results
from tests.eval.report.hand_made import SLICES, VALUES, dataset, scores

from inpaintbench.errors import InputError
from inpaintbench.eval.diagnosis import Diagnosis, diagnose
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report import effects, figures, page
from inpaintbench.eval.report.figures import paper_figure, versus_figure
from inpaintbench.eval.report.gallery import Choice
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.pages import method_styles
from inpaintbench.pages.panels import plain
from inpaintbench.pages.plots import specification
from inpaintbench.pages.tables import comma_separated, latex

CORRECTED = PROTOCOLS.get("devil/corrected")


@pytest.fixture
def diagnosed(monkeypatch: pytest.MonkeyPatch) -> Results:
    """Results of which pages and figures find the diagnosis made by hand."""
    for module in (figures, effects, page):
        monkeypatch.setattr(module, "diagnose", diagnosis_of)
    return paired_results()


def told(diagnosis: Diagnosis, quantity: Quantity = PSNR) -> list[str]:
    return [plain(one.words) for one in effects.told_sentences(diagnosis, quantity)]


def test_a_sentence_for_each_effect_that_is_told_the_surest_first_and_differences_last() -> None:
    found = told(diagnosis_of(paired_results()))
    assert found[:3] == [
        "temporal_median loses 5.11 to 7.89 dB when the camera moves fast",
        "telea loses 3.14 to 4.86 dB when the hole is large",
        "temporal_median loses 2.36 to 3.64 dB when the camera moves slowly",
    ]
    assert "affine_propagation gains 0.31 to 0.49 dB when the camera moves fast" in found
    # Of two methods the one that comes off worse is named as such, whoever is first in the diagnosis.
    assert "Against temporal_median, telea loses 2.36 to 3.64 dB when the hole is large" in found
    assert "Against telea, temporal_median loses 4.64 to 7.16 dB when the camera moves fast" in found
    assert [sentence.startswith("Against") for sentence in found] == [False] * 9 + [True] * 9


def test_of_a_metric_without_a_unit_less_can_be_better() -> None:
    found = told(diagnosis_of(paired_results()), MSE)
    assert any(re.match(r"telea gets .* worse when the hole is large", sentence) for sentence in found)
    assert not any("loses" in sentence for sentence in found)


def test_axes_of_other_names_are_told_by_their_levels() -> None:
    diagnosis = diagnosis_of(paired_results())
    effect = next(one for one in diagnosis.effects if one.factor.name == "size" and one.told)
    other = effect._replace(
        factor=effect.factor._replace(name="known_noise", label="noise of known pixels"), levels=("low", "much")
    )
    assert plain(effects.sentence(other)).endswith("when noise of known pixels goes from low to much")
    assert plain(effects.sentence(other._replace(levels=("low", "very_much")))).endswith("from low to very much")
    assert effects.step_of(other._replace(levels=("low", "very_much"))).levels == "low → very much"


def test_what_is_not_told_is_no_claim_but_says_what_could_have_been_found() -> None:
    nothing = diagnosis_of(paired_results(), told=False)
    assert told(nothing) == []
    # Reaches of effects that have one: from .9 of the slopes to 7.5 of the largest effect.
    assert effects.sensitivity_note(nothing, PSNR) == (
        "None of these 15 effects is more than chance: with 6 sources an effect is told where it is larger than its "
        "interval’s half-width, for half of them 1.50 dB or less."
    )
    assert effects.sensitivity_note(diagnosis_of(paired_results()), PSNR).startswith(
        "The other 6 could be chance: with 6 sources"
    )
    assert effects.sensitivity_note(diagnosis_of(paired_results()), Quantity("lpips", "hole")) == ""


def test_the_table_has_a_line_for_each_step_axes_first_and_bold_effects_that_are_told() -> None:
    diagnosis = diagnosis_of(paired_results())
    table = effects.effects_table(paired_results(), diagnosis, PSNR)
    assert [(row.cells[0].text, row.cells[1].text) for row in table.rows] == [
        ("Size of the hole", "low → high"), ("Path of the camera", "still → slow"), ("Path of the camera", "still → fast"),
        ("Camera motion", "low → high"), ("Share of the hole", "2.1 → 4.2 % of the whole frame"),
    ]  # fmt: skip
    largest = table.rows[2].cells[3]
    assert (largest.text, largest.below, largest.strong) == ("−6.50", "−7.89 – −5.11", True)
    assert largest.title == "p 0.002, over 6 pairs of 6 sources"
    # Without an interval there is none, and nothing is bold.
    assert (table.rows[3].cells[2].below, table.rows[3].cells[2].strong) == ("", False)
    text = latex(table)
    assert r"Size of the hole & low $\rightarrow$ high & \textbf{$-$4.00} {\scriptsize $-$4.86 -- $-$3.14}" in text
    first = comma_separated(table).splitlines()[1].split(",")
    assert first[:5] == ["Size of the hole", "low → high", "-4.0", "−4.86 – −3.14", "bold"]


@pytest.mark.parametrize(("one", "other", "difference"), [("telea", "temporal_median", -3.0), ("temporal_median", "telea", 3.0)])
def test_two_fingerprints_have_their_difference_beside_them(one: str, other: str, difference: float) -> None:
    table = effects.versus_table(paired_results(), diagnosis_of(paired_results()), PSNR, one, other)
    assert [column.label for column in table.columns] == ["Attribute", "Step", one, other, f"{one} less {other}"]
    assert table.rows[0].cells[4].value == pytest.approx(difference)
    rows = figures.versus_rows(diagnosis_of(paired_results()), PSNR, one, other)
    drawn = [row for row in rows if row["kind"] == "effect" and row["line"] == "Size of the hole\nlow → high"]
    assert [(row["method"], row["place"], row["value"]) for row in drawn if row["panel"] == "both"] == [
        (name, 2 * (name == other), {"telea": -4.0, "temporal_median": -1.0}[name]) for name in ("telea", "temporal_median")
    ]
    assert [(row["method"], row["place"], row["value"]) for row in drawn if row["panel"] != "both"] == [
        (f"{one} less {other}", 1, difference)
    ]


def test_the_group_that_shows_an_axis_is_near_the_mean_effects_and_has_the_worst_score_there() -> None:
    results, diagnosis = paired_results(), diagnosis_of(paired_results())
    shown = effects.shown_groups(results, diagnosis, PSNR)
    assert set(shown) == {"size", "camera_path"}
    assert list(shown["camera_path"]) == ["still", "slow", "fast"]
    own = effects.own_effects(diagnosis, PSNR)
    for axis, items in shown.items():
        of_axis = [one for one in own if one.factor.kind == "paired" and one.factor.name == axis]
        groups = effects.groups(results, axis)
        near = sorted(groups, key=lambda group: effects._distance(results, group, of_axis))[: len(groups) // 2]
        surest = max((one for one in of_axis if one.told), key=lambda one: one.surely)
        assert not surest.better
        scores = {str(group): results.value(surest.one, group[surest.levels[1]], PSNR) for group in near}
        assert scores[str(items)] == min(scores.values()) < max(scores.values())  # type: ignore[type-var]


@pytest.mark.parametrize(("most", "lacking"), [(6, ""), (0, "")])
def test_every_axis_of_which_something_is_told_is_shown(most: int, lacking: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects, "_MOST_GROUPS", most)
    results = paired_results()
    assert set(effects.shown_groups(results, diagnosis_of(results), PSNR)) == {"size", "camera_path"}
    assert effects.without_clips(results, diagnosis_of(results), PSNR) == lacking


def test_an_axis_of_which_nothing_is_told_may_have_no_clips_which_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects, "_MOST_GROUPS", 0)
    results, diagnosis = paired_results(), diagnosis_of(paired_results())
    untold = [one._replace(p=1.0, reach=100.0) if one.factor.name == "size" else one for one in diagnosis.effects]
    diagnosis = diagnosis._replace(effects=tuple(untold))
    assert set(effects.shown_groups(results, diagnosis, PSNR)) == {"camera_path"}
    assert effects.without_clips(results, diagnosis, PSNR) == "No clips are on this page of: Size of the hole."


def test_a_group_that_lacks_a_level_or_a_value_shows_nothing() -> None:
    results, lacking = paired_results(), {"c-fast", "d-high"}
    rest = [score for score in results.scores if score.item_id not in lacking]
    fewer = Results(results.dataset, rest, protocol=CORRECTED)
    shown = effects.shown_groups(fewer, diagnosis_of(results), PSNR)
    assert shown["camera_path"]["fast"] in {"b-fast", "d-fast", "e-fast"}
    assert shown["size"]["high"] in {"b-high", "c-high", "e-high"}
    rows = tuple(row for row in results.dataset.items if row["item_id"] != "d-slow")
    slices = tuple(replace(part, item_ids=[one for one in part.item_ids if one != "d-slow"]) for part in results.dataset.slices)
    cut = Results(
        replace(results.dataset, items=rows, slices=slices), [one for one in rest if one.item_id != "d-slow"], protocol=CORRECTED
    )
    shown = effects.shown_groups(cut, diagnosis_of(results), PSNR)
    assert shown["camera_path"]["fast"] in {"b-fast", "e-fast"}


def test_the_gallery_shows_those_groups_and_what_nothing_explains() -> None:
    results = paired_results()
    known = Choice("b-fast", labels={"Hardest 1": "it is"})
    choices = {one.item_id: one.labels for one in effects.add_groups(results, [known], diagnosis_of(results), PSNR)}
    assert choices["b-fast"]["Hardest 1"] == "it is"
    assert choices["b-fast"]["Unexplained 1"] == "telea has 20.10 dB where its attributes let expect 28.40 dB"
    assert "Unexplained 2" in choices["e-high"]
    labels = [label for of in choices.values() for label in of if not label.startswith(("Hardest", "Unexplained"))]
    assert sorted(labels) == [
        "Path of the camera: fast", "Path of the camera: slow", "Path of the camera: still",
        "Size of the hole: high", "Size of the hole: low",
    ]  # fmt: skip


def test_the_headline_is_the_surest_effect_of_an_axis_with_the_clips_that_show_it(diagnosed: Results) -> None:
    found = effects.headline(diagnosed, PSNR)
    assert found is not None
    assert plain(found.sentence) == "temporal_median loses 5.11 to 7.89 dB when the camera moves fast"
    assert found.reasons.startswith(
        "PSNR in the hole: −6.50 dB on average over 6 pairs of 6 sources, pairs that differ in nothing"
    )
    assert [(proof.item_id[1:], proof.method) for proof in found.proofs] == [
        ("-base", "temporal_median"),
        ("-fast", "temporal_median"),
    ]
    assert found.proofs[0].item_id[0] == found.proofs[1].item_id[0]
    assert re.fullmatch(r"path of the camera fast: \d\d\.\d\d dB on this clip", found.proofs[1].caption)


def test_without_a_told_axis_the_headline_is_the_surest_of_the_rest_or_says_that_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Too few sources for any change between slices.
    results = paired_results()
    few = Results(results.dataset, [one for one in results.scores if one.item_id[0] in "abc"], protocol=CORRECTED)
    whole = diagnosis_of(results)
    slopes = [one._replace(p=0.01) for one in whole.effects if one.factor.kind == "measured" and one.quantity == PSNR]
    differences = [one for one in whole.effects if one.other]
    untold = [one._replace(p=0.5) for one in whole.effects if not one.other and one.factor.kind == "paired"]
    found = []
    for effects_told in ([*untold, *slopes, *differences], [*untold, *differences], untold):
        monkeypatch.setattr(effects, "diagnose", lambda _, own=tuple(effects_told): whole._replace(effects=own))
        found.append(effects.headline(few, PSNR))
    slope, difference, nothing = found
    assert slope is not None
    assert plain(slope.sentence).endswith("when share of the hole goes from 2.1 to 4.2 % of the whole frame, all else equal")
    assert "by a regression on everything that was measured" in slope.reasons
    # Of 8 items with the least and 8 with the most of it those nearest to the means of their scores.
    method = slope.proofs[0].method
    points = sorted((at, score, item) for item, at, score in next(one.points for one in whole.curves if one.method == method))
    for part, proof in zip((points[:8], points[-8:]), slope.proofs, strict=True):
        mean = sum(score for _, score, _ in part) / 8
        assert abs(next(score for _, score, item in part if item == proof.item_id) - mean) == pytest.approx(
            min(abs(score - mean) for _, score, _ in part)
        )
    assert [proof.caption.partition(":")[0] for proof in slope.proofs] == ["share of the hole low", "share of the hole high"]
    assert difference is not None
    assert plain(difference.sentence).startswith("Against affine_propagation, temporal_median loses")
    assert [proof.item_id[1:] for proof in difference.proofs] == ["-base", "-fast"]
    assert nothing is None
    # Where no curve was drawn the headline has no clips, and the gallery opens as it would.
    monkeypatch.setattr(effects, "diagnose", lambda _: whole._replace(effects=(*untold, *slopes), curves=()))
    assert 'class="sentence"' in page.render(page.parts_of(few, [], title="T"), [])


@pytest.mark.parametrize(("quantity", "reverse"), [(PSNR, False), (MSE, True)])
def test_a_fingerprint_draws_every_effect_with_worse_to_the_left(quantity: Quantity, reverse: bool) -> None:
    results = paired_results()
    diagnosis, styles = diagnosis_of(results), method_styles(results.methods)
    rows = figures.fingerprint_rows(diagnosis, quantity)
    chart = figures.fingerprint_chart(
        styles, figures.line_labels(diagnosis), results.contenders, higher_is_better=quantity.higher_is_better
    )
    drawn = specification(chart)
    assert {one["scale"]["reverse"] for one in scales_of(drawn)} == {reverse}
    svg = vl_convert.vegalite_to_svg({**drawn, "datasets": {"rows": rows}})
    words = {row["told"] for row in rows if row["kind"] == "effect"}
    assert len(words) == 15  # five lines, three methods
    assert {html.escape(word) for word in words} <= set(re.findall(r'aria-label="([^"]*)"', svg))
    # Names of methods, numbers of what is told, and both directions in words in each panel.
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", svg)
    assert (texts.count("← worse"), texts.count("better →")) == (3, 3)
    assert len([row for row in rows if row["kind"] == "effect" and row["sure"]]) == 9
    assert all(row["text"] in texts for row in rows if row["kind"] == "effect" and row["sure"])
    places = {
        at: float(re.search(rf'<path aria-label="{re.escape(html.escape(at))}"[^>]* d="M([-\d.]+)', svg)[1]) for at in words
    }  # type: ignore[index]
    assert len(set(places.values())) == 1  # a line's mark is as wide as its panel


def test_one_interval_without_end_leaves_the_others_as_long_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    diagnosis = diagnosis_of(paired_results())
    own = [effect for effect in effects.own_effects(diagnosis, PSNR) if not effect.told]
    wide = diagnosis._replace(effects=tuple(one._replace(reach=400.0) if one == own[0] else one for one in diagnosis.effects))
    usual, rows = (
        {(row["method"], row["line"]): row for row in figures.fingerprint_rows(made, PSNR) if row["kind"] == "effect"}
        for made in (diagnosis, wide)
    )
    key = (own[0].one, figures.line_label(effects.step_of(own[0])))
    assert (rows[key]["beyond_worse"], rows[key]["beyond_better"]) == (rows[key]["low"], rows[key]["high"])
    assert rows[key]["told"] != usual[key]["told"]  # the words have the whole of it
    assert all(abs(rows[one][end]) < 20 for one in rows for end in ("low", "high") if rows[one][end] is not None)
    assert all(
        (rows[one]["low"], rows[one]["high"]) == (usual[one]["low"], usual[one]["high"]) for one in rows if rows[one]["sure"]
    )
    errors = [row for row in figures.fingerprint_rows(diagnosis, MSE) if "beyond_worse" in row]
    assert all(row["beyond_worse"] == row["high"] for row in errors)  # less is better
    monkeypatch.setattr(figures, "diagnose", lambda _: wide)
    drawn = paper_figure(paired_results(), "fingerprint", PSNR)
    assert "An interval that ends in an arrow goes on beyond." in drawn["title"]["subtitle"]
    # Two triangles of the one interval, to the left and to the right of it.
    assert {part for part in ("triangle-left", "triangle-right") if part in json.dumps(drawn)} == {
        "triangle-left",
        "triangle-right",
    }
    assert "<svg" in vl_convert.vegalite_to_svg(drawn)


def scales_of(tree: Any) -> list[dict[str, Any]]:
    """Every encoding along x with a scale."""
    if isinstance(tree, list):
        return [found for part in tree for found in scales_of(part)]
    if not isinstance(tree, dict):
        return []
    own = [tree["x"]] if isinstance(tree.get("x"), dict) and "scale" in tree["x"] else []
    return own + [found for part in tree.values() for found in scales_of(part)]


def test_response_curves_have_a_dot_for_each_item_and_a_band(diagnosed: Results) -> None:
    diagnosis = diagnosis_of(diagnosed)
    rows = figures.response_rows(diagnosis, PSNR)
    dots = [row for row in rows if row["kind"] == "dot"]
    assert len(dots) == 3 * 4 * len(SOURCES)
    assert {(row["method"], row["item"]): row["y"] for row in dots} == {
        (method, item): pytest.approx(diagnosed.value(method, item, PSNR), rel=1e-5)
        for method in diagnosed.methods for item in diagnosed.sources
    }  # fmt: skip
    # Drawn in per cent, the unit of the attribute.
    fractions = {row["item_id"]: row["attributes"]["hole.hole_fraction"] for row in diagnosed.dataset.items}
    assert {row["item"]: row["x"] for row in dots} == {item: pytest.approx(100 * at) for item, at in fractions.items()}
    bends = [row for row in rows if row["kind"] == "curve"]
    assert len(bends) == 3 * 12
    assert all(row["low"] < row["y"] < row["high"] for row in bends)
    data = figures.curve_data(diagnosed, diagnosis)
    assert next(line["at"] for line in data["lines"] if line["metric"] == "psnr") == [row["x"] for row in bends[:12]]
    places = list(diagnosed.sources)
    assert {places[place]: at for place, at in data["values"]["Share of the hole (% of the frame)"].items()} == {
        row["item"]: row["x"] for row in dots
    }


def test_figures_for_papers_say_what_is_pale(diagnosed: Results) -> None:
    svg = vl_convert.vegalite_to_svg(paper_figure(diagnosed, "fingerprint", PSNR))
    assert "Change of PSNR in the hole (dB): effects with intervals that hold together" in svg
    assert "Pale: could be chance." in svg
    assert ">temporal_median<" in svg[svg.index("role-legend") :]
    assert "Share of the hole" in vl_convert.vegalite_to_svg(paper_figure(diagnosed, "response", PSNR))
    both = versus_figure(diagnosed, "telea", "temporal_median", PSNR)
    assert both is not None
    assert "telea less temporal_median" in vl_convert.vegalite_to_svg(both)


def test_without_an_axis_or_an_attribute_nothing_of_it_is_there() -> None:
    results = Results(dataset(SLICES), scores(VALUES), protocol=CORRECTED)
    text = page.render(page.parts_of(results, [], title="T"), [])
    assert 'id="fingerprints"' not in text
    assert 'id="response"' not in text
    for name in ("fingerprint", "response"):
        with pytest.raises(InputError, match=f"nothing to draw as {name!r}: the dataset has no"):
            paper_figure(results, name, PSNR)
    assert versus_figure(results, "good", "bad", PSNR) is None


def test_the_page_says_of_each_metric_what_its_fingerprints_do(diagnosed: Results) -> None:
    text = page.render(page.parts_of(diagnosed, [], title="T"), [])
    assert "telea</span></span> loses 3.14 to 4.86 dB when the hole is large" in text
    assert text.count('class="effects"') == 4  # of two metrics six each, and the others folded
    assert "Of the spread of PSNR in the hole between items" in text
    assert "together cost" in text
    assert "left out: displacement: it differs in 3 sources" in text
    # The card of the strongest sensitivity says nothing more, and what DEVIL draws of it is folded.
    assert "Strongest sensitivity" not in text
    assert re.search(r'id="sensitivity"[^>]*>\s*<details class="part">', text)


def test_the_real_diagnosis_of_the_same_scores_tells_what_was_put_in() -> None:
    found = {(one.factor.name, one.levels[1], one.one): one for one in effects.own_effects(diagnose(paired_results()), PSNR)}
    largest = found["camera_path", "fast", "temporal_median"]
    assert largest.value == pytest.approx(-6.5)
    assert largest.told
    assert found["size", "high", "telea"].value == pytest.approx(-4.0)
