"""Boxes: against which inputs really reach which outputs, found by marking them one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from inpaintbench.models import boxes
from inpaintbench.models.boxes import Reach, Span

CHAINS = (
    [(7, 2), (3, 2), (1, 1)],
    [(3, 1)],
    [(3, 2), (3, 1)],
    [(2, 2), (3, 1)],
    [(7, 2)],
)


def inputs_of(chain: list[tuple[int, int]], size: int) -> list[set[int]]:
    """For each output position the input positions that it sees."""
    seen = [{index} for index in range(size)]
    for kernel, stride in chain:
        length = len(seen)
        total = max((-(-length // stride) - 1) * stride + kernel - length, 0)
        seen = [
            set().union(
                *(seen[at] for at in range(out * stride - total // 2, out * stride - total // 2 + kernel) if 0 <= at < length)
            )
            for out in range(-(-length // stride))
        ]
    return seen


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("size", [1, 2, 9, 16, 31])
def test_what_is_reached_and_what_is_needed(chain: list[tuple[int, int]], size: int) -> None:
    reaches = [Reach((kernel,) * 3, (stride,) * 3) for kernel, stride in chain]
    seen = inputs_of(chain, size)
    assert boxes.output_size(reaches, (size,) * 3) == (len(seen),) * 3
    for begin, end in itertools.combinations(range(size + 1), 2):
        span = boxes.reached(reaches, (size,) * 3, (Span(begin, end),) * 3)[1]
        assert [begin <= max(one) and min(one) < end for one in seen] == [span.begin <= at < span.end for at in range(len(seen))]
    for begin, end in itertools.combinations(range(len(seen) + 1), 2):
        region = boxes.plan(reaches, (size,) * 3, (Span(begin, end),) * 3).region[2]
        wanted = set().union(*seen[begin:end])
        # Poolings of stride 2 may skip a position at the end, which is then needed by none.
        assert wanted <= set(range(*region))
        assert len(region) == 2
        assert region.end - region.begin <= max(wanted) - min(wanted) + 2


def test_zeros_stand_only_at_the_ends() -> None:
    reaches = [Reach((3, 3, 3), (1, 1, 1)), Reach((3, 3, 3), (1, 1, 1))]
    plan = boxes.plan(reaches, (9, 9, 9), (Span(0, 9), Span(0, 2), Span(4, 5)))
    assert plan.region == (Span(0, 9), Span(0, 4), Span(2, 7))
    assert plan.zeros == [((1, 1), (1, 0), (0, 0)), ((1, 1), (1, 0), (0, 0))]


def test_padding_is_that_of_tensorflow() -> None:
    assert boxes.same_padding(10, kernel=7, stride=2) == (2, 3)
    assert boxes.same_padding(9, kernel=7, stride=2) == (3, 3)
    assert boxes.same_padding(240, kernel=3, stride=2) == (0, 1)
    assert boxes.same_padding(4, kernel=2, stride=2) == (0, 0)
    assert boxes.same_padding(5, kernel=1, stride=1) == (0, 0)


def test_the_union_holds_all() -> None:
    rng = np.random.default_rng(0)
    some = [tuple(Span(*sorted(rng.choice(20, 2, replace=False).tolist())) for _ in range(3)) for _ in range(5)]
    for axis, span in enumerate(boxes.united(some)):  # type: ignore[arg-type]
        assert span == (min(one[axis].begin for one in some), max(one[axis].end for one in some))


SIZE = (4, 37, 61)


@pytest.mark.parametrize("chain", CHAINS)
def test_a_box_on_the_ladder_is_of_few_sizes_and_what_it_needs_depends_on_its_size_alone(
    chain: list[tuple[int, int]],
) -> None:
    reaches = [Reach((kernel,) * 3, (stride,) * 3) for kernel, stride in chain]
    after = boxes.output_size(reaches, SIZE)
    needed: dict[tuple[int, ...], set[object]] = {}
    rng = np.random.default_rng(0)
    for _ in range(300):
        rows, columns = (Span(*sorted(rng.choice(length + 1, 2, replace=False).tolist())) for length in after[1:])
        box = boxes.on_ladder((Span(1, 2), rows, columns), after)
        assert box[0] == (0, after[0])
        for grown, exact, length in zip(box[1:], (rows, columns), after[1:], strict=True):
            assert 0 <= grown.begin <= exact.begin < exact.end <= grown.end <= length
        plan = boxes.plan(reaches, SIZE, box, few_shapes=True)
        padded = tuple(
            span.end - span.begin + sum(border) + sum(zeros)
            for span, border, zeros in zip(plan.region, plan.border, plan.zeros[0], strict=True)
        )
        needed.setdefault(tuple(span.end - span.begin for span in box), set()).add(padded)
    assert 1 < len(needed) <= len(boxes.LADDER) + 1
    assert all(len(found) == 1 for found in needed.values())
