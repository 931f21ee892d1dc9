from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.curation.split import FILM_SHARES, PEOPLE_SHARES, assign
from inpaintbench.errors import InputError

SIZES = st.lists(st.integers(1, 12), min_size=1, max_size=40)
SHARES = st.sampled_from([PEOPLE_SHARES, FILM_SHARES, {"a": 1.0}, {"a": 0.5, "b": 0.5}, {"a": 0.97, "b": 0.01, "c": 0.02}])


def subjects(sizes: list[int]) -> dict[str, str]:
    return {f"s{group}-{index}": f"g{group}" for group, size in enumerate(sizes) for index in range(size)}


@given(sizes=SIZES, shares=SHARES, seed=st.integers(0, 5))
@settings(max_examples=150, deadline=None)
def test_groups_stay_together_and_shares_hold_within_the_largest_group(
    sizes: list[int], shares: dict[str, float], seed: int
) -> None:
    groups = subjects(sizes)
    splits = assign(groups, shares, seed=seed)
    assert splits.keys() == groups.keys()
    assert len({(groups[subject], split) for subject, split in splits.items()}) == len(sizes)
    counts = Counter(splits.values())
    for split, share in shares.items():
        assert abs(counts[split] - share * len(groups)) <= max(sizes) + 1e-6


@given(sizes=SIZES, shares=SHARES, kept=st.integers(0, 40), seed=st.integers(0, 3))
def test_given_splits_stay_and_the_shares_are_filled_up_around_them(
    sizes: list[int], shares: dict[str, float], kept: int, seed: int
) -> None:
    groups = subjects(sizes)
    first = {name: group for name, group in groups.items() if int(group[1:]) < kept}
    before = assign(first, shares, seed=seed) if first else {}
    after = assign(groups, shares, seed=seed, given=before)
    assert before.items() <= after.items()
    assert len({(groups[subject], split) for subject, split in after.items()}) == len(sizes)
    counts = Counter(after.values())
    for split, share in shares.items():
        assert abs(counts[split] - share * len(groups)) <= max(sizes) + 1e-6


def test_subjects_that_are_elsewhere_count_and_two_splits_of_a_group_are_refused() -> None:
    elsewhere = {f"old {number}": "train" for number in range(6)}
    found = assign({"a": "a", "b": "b", "c": "c", "d": "d"}, FILM_SHARES, seed=0, given=elsewhere)
    assert Counter(found.values()) == {"validation": 2, "test": 2}
    with pytest.raises(InputError, match="'g' is one group, and its subjects are in two splits already: train, test"):
        assign({"a": "g", "b": "g"}, FILM_SHARES, seed=0, given={"a": "train", "b": "test"})
    with pytest.raises(InputError, match="in the split 'dev' already, which has no share"):
        assign({"a": "g"}, FILM_SHARES, seed=0, given={"x": "dev"})


@given(sizes=SIZES, shares=SHARES, order=st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_order_plays_no_part(sizes: list[int], shares: dict[str, float], order: object) -> None:
    groups = subjects(sizes)
    shuffled, other = list(groups.items()), list(shares.items())
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    order.shuffle(other)  # type: ignore[attr-defined]
    assert assign(dict(shuffled), dict(other), seed=1) == assign(groups, shares, seed=1)


def test_single_pictures_meet_the_published_counts() -> None:
    # The 41,076 pictures of the challenge would be 28,753 / 6,161 / 6,162; a thousandth of them here.
    counts = Counter(assign({str(index): str(index) for index in range(41)}, PEOPLE_SHARES, seed=0).values())
    assert counts == {"train": 29, "test": 6, "validation": 6}


@pytest.mark.parametrize(("groups", "sizes"), [(0, []), (1, [1]), (2, [2]), (3, [1, 2]), (4, [1, 3]), (7, [1, 1, 5])])
def test_tiny_inputs(groups: int, sizes: list[int]) -> None:
    splits = assign({str(index): str(index) for index in range(groups)}, PEOPLE_SHARES, seed=0)
    assert sorted(Counter(splits.values()).values()) == sizes
    assert groups == 0 or Counter(splits.values()).most_common(1)[0][0] == "train"


def test_the_seed_deals_equal_groups_and_repeats() -> None:
    groups = subjects([1] * 30)
    dealt = [assign(groups, FILM_SHARES, seed=seed) for seed in (0, 0, 1)]
    assert dealt[0] == dealt[1]
    assert dealt[0] != dealt[2]
    assert Counter(dealt[0].values()) == Counter(dealt[2].values()) == {"train": 18, "validation": 6, "test": 6}


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ({"train": 0.7, "test": 0.2}, "train 0.7, test 0.2.* sum to 0.9"),
        ({}, "none"),
        ({"train": 1.2, "test": -0.2}, "'test' is -0.2"),
        ({"train": 1.0, "test": 0.0}, "leave the split out"),
        ({"train": float("nan")}, "nan"),
    ],
)
def test_shares_that_cannot_be(shares: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        assign({"a": "b"}, shares, seed=0)
