"""Every step, span and length that matters is small enough to try them all."""

from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.compute import Shared
from inpaintbench.eval.passes.changed_windows import Span, Step, Window, around_all, changed_windows, plan, sizes_of

STEPS = [
    Step(),
    Step(kernel=11, stride=4, padding=2),
    Step(kernel=5, padding=2),
    Step(kernel=3, padding=1),
    Step(kernel=3, stride=2),
    Step(kernel=3, stride=2, ceil=True),
    Step(kernel=2, stride=2),
]


@pytest.mark.parametrize("step", STEPS)
def test_cells_reached_are_those_that_see_a_changed_one(step: Step) -> None:
    for length, changed in spans(least=step.kernel):
        seeing = [cell for cell in range(step.cells(length)) if set(range(*changed)) & seen(step, cell)]
        reached = step.reached(changed, length)
        if seeing:
            assert reached == (seeing[0], seeing[-1] + 1)
        else:  # what no cell looks at
            assert reached.stop - reached.start == 1
            assert reached.stop <= step.cells(length)


@pytest.mark.parametrize("step", STEPS)
def test_the_source_holds_what_the_wanted_cells_see_and_keeps_the_stride(step: Step) -> None:
    for length, _ in spans(least=step.kernel):
        for wanted in within(step.cells(length)):
            needed = {place for cell in range(*wanted) for place in seen(step, cell) if 0 <= place < length}
            source = step.source(wanted, length)
            assert needed <= set(range(*source)) <= set(range(length))
            assert source.start % step.stride == 0


@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize(("kernel", "stride", "padding"), [(11, 4, 2), (5, 1, 2), (3, 2, 0), (2, 2, 0)])
def test_a_step_gives_as_many_cells_as_in_torch(kernel: int, stride: int, padding: int, *, ceil: bool) -> None:
    torch = pytest.importorskip("torch")
    pool = torch.nn.MaxPool1d(kernel, stride, padding, ceil_mode=ceil)
    for length in range(kernel, 40):
        assert Step(kernel, stride, padding, ceil).cells(length) == pool(torch.zeros(1, 1, length)).shape[-1]


def test_sizes_are_zero_from_where_on_a_frame_is_too_small() -> None:
    assert sizes_of([Step(3, 2), Step(), Step(5), Step(3, padding=1)], 9, 20) == ((9, 20), (4, 9), (4, 9), (0, 5), (0, 0))


def test_a_plan_looks_at_what_surrounds_the_changes_and_no_more() -> None:
    planned = plan([Step(3, padding=1), Step(2, 2)], window(10, 12, 20, 21), height=40, width=50)
    assert planned.sizes == ((40, 50), (40, 50), (20, 25))
    assert planned.changed == (window(10, 12, 20, 21), window(9, 13, 19, 22), window(4, 7, 9, 11))
    assert planned.sources == (window(8, 14, 18, 23), window(8, 14, 18, 22))
    assert planned.looked_at == (window(7, 15, 17, 23), window(8, 14, 18, 22), window(4, 7, 9, 11))


def test_the_changed_window_is_the_box_around_all_pixels_that_differ() -> None:
    truth = np.random.default_rng(0).integers(0, 255, (3, 30, 40, 3), dtype=np.uint8)
    composite = truth.copy()
    composite[0, 4, 9, 2] += 1
    composite[2, 17, 5, 0] += 1
    shared = Shared()
    windows = changed_windows(truth, composite, shared)
    assert windows == [window(4, 5, 9, 10), None, window(17, 18, 5, 6)]
    assert around_all(windows) == window(4, 18, 5, 10)
    assert around_all(windows[1:2]) is None
    assert changed_windows(truth, composite, shared) is windows


@pytest.mark.parametrize("step", STEPS)
def test_with_few_shapes_as_many_cells_are_a_source_wherever_the_wanted_ones_lie(step: Step) -> None:
    for length, _ in spans(least=step.kernel):
        counts: dict[int, set[int]] = {}
        for wanted in within(step.cells(length)):
            exact, source = (step.source(wanted, length, few_shapes=few) for few in (False, True))
            assert set(range(*exact)) <= set(range(*source)) <= set(range(length))
            assert source.start % step.stride == 0
            counts.setdefault(wanted.stop - wanted.start, set()).add(source.stop - source.start)
        assert {len(found) for found in counts.values()} == {1}


@pytest.mark.parametrize("step", STEPS)
def test_a_source_of_few_shapes_holds_those_of_all_its_parts(step: Step) -> None:
    for length, _ in spans(least=step.kernel):
        for wanted in within(step.cells(length)):
            whole = set(range(*step.source(wanted, length, few_shapes=True)))
            assert all(
                set(range(*step.source(Span(start, stop), length, few_shapes=True))) <= whole
                for start in range(*wanted)
                for stop in range(start + 1, wanted.stop + 1)
            )


def window(top: int, bottom: int, left: int, right: int) -> Window:
    return Window(Span(top, bottom), Span(left, right))


def seen(step: Step, cell: int) -> set[int]:
    start = cell * step.stride - step.padding
    return set(range(start, start + step.kernel))


def within(length: int) -> list[Span]:
    return [Span(start, stop) for start in range(length) for stop in range(start + 1, length + 1)]


def spans(*, least: int) -> list[tuple[int, Span]]:
    return [(length, span) for length in range(least, least + 9) for span in within(length)]
