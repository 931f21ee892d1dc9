from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaintbench.export.slices import Pair, Plan, _hashes, by_bin, by_value, everything, legacy_order, plan
from inpaintbench.masks.blob_motion import PRESETS
from inpaintbench.masks.measure import labels_of

LABELS = {preset: labels_of(preset) for preset in PRESETS}
CLIPS = [f"clip{place:04}" for place in range(1250)]


def make(behaviour: str, *, clips: list[str] = CLIPS, per_slice: int = 150, seed: int = 0) -> Plan:
    levels = {"camera_motion": {"low": clips[:150], "high": clips[-150:]}, "bg_scene_motion": {"low": clips[2:5], "high": []}}
    return plan(levels, all_clips=clips, presets=LABELS, per_slice=per_slice, behaviour=behaviour, seed=seed)


def of(made: Plan, name: str) -> list:
    return [pair for pair in made.pairs if pair.slice == name]


def test_the_published_permutations_and_reversal_bits() -> None:
    order, reverse = legacy_order(4000)
    assert order[:7] == [2230, 668, 3616, 2363, 142, 538, 1791]
    assert [int(bit) for bit in reverse[:10]] == [1, 1, 0, 1, 1, 0, 1, 0, 0, 0]
    assert legacy_order(8000)[0][:4] == [3069, 1675, 6385, 543]
    assert legacy_order(1250)[0][:5] == [711, 898, 186, 867, 18]


def test_as_published_uses_them_for_clips_and_masks() -> None:
    made = make("as-published")
    small = of(made, "size-low")
    assert [pair.clip_id for pair in small[:3]] == ["clip0711", "clip0898", "clip0186"]
    names = sorted(preset for preset, labels in LABELS.items() if labels["size"] == "low")
    assert (small[0].preset, small[0].index, small[0].reverse) == (names[2], 230, True)
    assert (small[1].preset, small[1].index, small[1].reverse) == (names[0], 668, True)
    assert [Counter(pair.preset for pair in small)[name] for name in names] == [35, 40, 36, 39]
    for name in ("size-high", "pose-low", "pose-high", "displacement-low", "displacement-high"):
        assert [(p.clip_id, p.index, p.reverse) for p in of(made, name)] == [(p.clip_id, p.index, p.reverse) for p in small]
    camera = of(made, "camera_motion-low")
    assert [pair.clip_id for pair in camera] == CLIPS[:150]
    assert [Counter(pair.preset for pair in camera)[name] for name in sorted(LABELS)] == [24, 17, 21, 20, 19, 13, 20, 16]


@pytest.mark.parametrize("behaviour", ["as-published", "corrected"])
def test_a_slice_fixes_one_attribute_and_lets_the_others_vary(behaviour: str) -> None:
    made = make(behaviour)
    for attribute in ("size", "pose", "displacement"):
        for level in ("low", "high"):
            pairs = of(made, f"{attribute}-{level}")
            assert len(pairs) == 150
            assert {LABELS[pair.preset][attribute] for pair in pairs} == {level}
            for other in {"size", "pose", "displacement"} - {attribute}:
                assert 0.35 < sum(LABELS[pair.preset][other] == "low" for pair in pairs) / 150 < 0.65
    assert {pair.preset for pair in of(made, "camera_motion-high")} == set(LABELS)


def test_corrected_slices_are_independent_and_follow_the_seed() -> None:
    made = make("corrected")
    first = [(pair.clip_id, pair.index) for pair in of(made, "size-low")]
    assert first != [(pair.clip_id, pair.index) for pair in of(made, "size-high")]
    assert first == [(pair.clip_id, pair.index) for pair in of(make("corrected"), "size-low")]
    assert first != [(pair.clip_id, pair.index) for pair in of(make("corrected", seed=1), "size-low")]
    assert len({pair.clip_id for pair in of(made, "size-low")}) == 150


def test_fewer_clips_give_fewer_pairs_and_an_empty_slice_is_left_out_with_its_reason() -> None:
    made = make("corrected", clips=CLIPS[:7], per_slice=20)
    assert len(of(made, "size-low")) == 7
    assert len(of(made, "bg_scene_motion-low")) == 3
    assert made.left_out == {"bg_scene_motion-high": "no clip is labelled bg_scene_motion_level 'high'"}
    assert "bg_scene_motion-high" in made.rules


def test_a_bin_holds_its_upper_edge_and_not_its_lower_one() -> None:
    numbers = {
        "first edge": 0.0,
        "in first": 0.1,
        "middle edge": 0.2,
        "in second": 0.3,
        "last edge": 0.4,
        "over": 0.41,
        "low": -1,
    }
    made, left_out = by_bin(numbers, "hole area", name="area", edges=(0.0, 0.2, 0.4, 0.6, 0.8), percent=True)
    assert [(one.name, one.rule, one.item_ids) for one in made] == [
        ("area-0-20", "0 < hole area <= 0.2", ("in first", "middle edge")),
        ("area-20-40", "0.2 < hole area <= 0.4", ("in second", "last edge")),
        ("area-40-60", "0.4 < hole area <= 0.6", ("over",)),
    ]
    assert left_out == {"area-60-80": "no item has 0.6 < hole area <= 0.8"}


def test_a_closed_first_bin_holds_its_lower_edge_too_and_no_other_does() -> None:
    numbers = {"below": 0.5, "first edge": 1.0, "middle edge": 2.0, "last edge": 3.0}
    made, left_out = by_bin(numbers, "strength", name="s", edges=(1, 2, 3), closed=True)
    assert [(one.name, one.rule, one.item_ids) for one in made] == [
        ("s-1-2", "1 <= strength <= 2", ("first edge", "middle edge")),
        ("s-2-3", "2 < strength <= 3", ("last edge",)),
    ]
    assert left_out == {}


def test_an_item_is_in_the_slice_of_each_of_its_values() -> None:
    values = {"i2": ("wet",), "i1": ("dry", "wet"), "i3": ()}
    made, left_out = by_value(values, "moisture", name="m")
    assert [(one.name, one.rule, one.item_ids) for one in made] == [
        ("m-dry", "moisture == 'dry'", ("i1",)), ("m-wet", "moisture == 'wet'", ("i2", "i1")),
    ]  # fmt: skip
    assert left_out == {}
    made, left_out = by_value(values, "moisture", name="m", wanted=("wet", "frozen"))
    assert [one.name for one in made] == ["m-wet"]
    assert left_out == {"m-frozen": "no item has moisture 'frozen'"}


def test_corrected_slices_rarely_use_a_mask_twice_and_reverse_about_half() -> None:
    made = make("corrected")
    for name in ("size-low", "camera_motion-high"):
        assert len({(pair.preset, pair.index) for pair in of(made, name)}) >= 140  # of 150; 147 are expected
    assert 0.4 < sum(pair.reverse for pair in made.pairs) / len(made.pairs) < 0.6
    few = plan(
        {}, all_clips=CLIPS, presets=LABELS, per_slice=150, behaviour="corrected", seed=0, masks_per_preset=7
    )  # fmt: skip
    assert {pair.index for pair in of(few, "size-low")} == set(range(7))


def test_a_mask_of_an_odd_number_is_reversed_as_often_as_one_of_an_even_number() -> None:
    pairs = make("corrected").pairs
    assert 0.45 < sum(pair.reverse == pair.index % 2 for pair in pairs) / len(pairs) < 0.55


def test_a_slice_that_grows_as_published_goes_on_where_its_masks_ended() -> None:
    there = [f"older{number}" for number in range(5)]
    grown = plan(
        {}, all_clips=CLIPS, presets=LABELS, per_slice=150, behaviour="as-published", seed=0, members={"size-low": there}
    )  # fmt: skip
    masks, whole = (
        [(pair.preset, pair.index, pair.reverse) for pair in of(made, "size-low")] for made in (grown, make("as-published"))
    )
    assert masks == whole[5:]


def test_which_mask_a_clip_gets_follows_from_clip_and_preset_alone() -> None:
    masks: dict[tuple[str, str], set[tuple[int, bool]]] = {}
    for clips in (CLIPS, CLIPS[:40], CLIPS[300:700]):
        for pair in make("corrected", clips=clips).pairs:
            masks.setdefault((pair.clip_id, pair.preset), set()).add((pair.index, pair.reverse))
    assert len(masks) > 1500
    assert {len(drawn) for drawn in masks.values()} == {1}


@given(st.integers(1, 90), st.integers(1, 60), st.permutations(range(90)))
def test_further_clips_only_add_to_slices_that_take_all(few: int, more: int, order: list[int]) -> None:
    def pairs(count: int) -> set[Pair]:
        clips = [CLIPS[place] for place in order[:count]]
        levels = {"camera_motion": {"low": [name for name in clips if name < "clip0030"], "high": clips[:1]}}
        made = plan(levels, all_clips=sorted(clips), presets=LABELS, per_slice=90, behaviour="corrected", seed=3)
        return {pair for pair in made.pairs if pair.slice != "camera_motion-high"}

    assert pairs(few) <= pairs(min(few + more, 90))


def test_a_larger_slice_begins_with_the_smaller_one() -> None:
    small, large = make("corrected", per_slice=20), make("corrected", per_slice=90)
    for name in small.rules:
        assert of(large, name)[:20] == of(small, name)


def test_presets_take_turns() -> None:
    for name in ("size-low", "size-high"):
        counts = Counter(pair.preset for pair in of(make("corrected"), name))
        assert max(counts.values()) - min(counts.values()) <= 1


FILMS = {f"{film}-{number}": str(film) for film, count in enumerate((1, 40, 3, 3, 5, 4, 60, 2)) for number in range(count)}


def of_films(sources: dict[str, str], *, per_slice: int, members: dict[str, list[str]] | None = None) -> Plan:
    clips = sorted(sources)
    levels = {"camera_motion": {"low": clips[::2], "high": clips[1::2]}}
    return plan(
        levels, all_clips=clips, presets=LABELS, per_slice=per_slice, behaviour="corrected", seed=1, sources=sources,
        members=members or {},
    )  # fmt: skip


@given(st.lists(st.integers(1, 30), min_size=1, max_size=12), st.integers(1, 60))
def test_no_film_has_more_of_a_corrected_slice_than_an_even_share_and_one_more(counts: list[int], per_slice: int) -> None:
    sources = {f"{film}-{number}": str(film) for film, count in enumerate(counts) for number in range(count)}
    pairs = of(of_films(sources, per_slice=per_slice), "size-low")
    taken = Counter(sources[pair.clip_id] for pair in pairs)
    assert len(taken) == min(len(counts), per_slice)
    assert len({pair.clip_id for pair in pairs}) == len(pairs) <= per_slice
    assert max(taken.values()) <= len(pairs) / min(len(counts), len(pairs)) + 1


def test_presets_are_balanced_where_films_take_turns() -> None:
    made = of_films({f"{film}-{number}": str(film) for film in range(20) for number in range(30)}, per_slice=100)
    for name in made.rules:
        counts = Counter(pair.preset for pair in of(made, name))
        assert max(counts.values()) - min(counts.values()) <= 2


def test_a_corrected_slice_that_grows_counts_what_films_have_of_it() -> None:
    members = {"size-low": [f"6-{number}" for number in range(4)]}
    more = Counter(FILMS[pair.clip_id] for pair in of(of_films(FILMS, per_slice=16, members=members), "size-low"))
    assert "6" not in more
    assert sum(more.values()) == 12
    assert more["1"] <= 3


def test_as_published_takes_clips_whatever_film_they_are_of() -> None:
    levels, clips = {"camera_motion": {"low": CLIPS[:150], "high": CLIPS[-150:]}}, CLIPS
    one = dict.fromkeys(CLIPS, "one")
    made = [
        plan(levels, all_clips=clips, presets=LABELS, per_slice=150, behaviour="as-published", seed=0, sources=sources)
        for sources in (one, {})
    ]
    assert list(made[0].pairs) == list(made[1].pairs)


def test_the_slice_of_everything_holds_everything() -> None:
    made = everything(["i2", "i1"])
    assert (made.name, made.rule, made.item_ids) == ("all", "every item", ("i2", "i1"))


def test_names_are_drawn_by_numbers_whose_64_bits_all_differ() -> None:
    hashes = _hashes([f"film {number}" for number in range(64)])
    assert int(np.bitwise_or.reduce(hashes)) == 2**64 - 1
    assert int(np.bitwise_and.reduce(hashes)) == 0
