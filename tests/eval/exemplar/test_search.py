"""The search for patches against costs, votes and random numbers counted one by one."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np
import pytest
from worlds import photograph

from inpaintbench.eval.exemplar.search import NOWHERE, Draws, Level, Match, Weights, levels_of, random_numbers

HEIGHT, WIDTH, HALF = 30, 34, 2


@pytest.fixture(params=["search", "compiled"])
def code(request: pytest.FixtureRequest) -> Any:
    if request.param == "compiled" and importlib.util.find_spec("numba") is None:
        pytest.skip("numba is not installed")
    return importlib.import_module(f"inpaintbench.eval.exemplar.{request.param}")


def made() -> tuple[Level, Weights]:
    picture = photograph("chelsea", width=WIDTH, height=HEIGHT)
    hole = np.zeros((HEIGHT, WIDTH), np.bool_)
    hole[8:16, 10:19] = hole[26:, :5] = True
    (level,) = levels_of(picture, hole, patch_pixels=2 * HALF + 1, levels=1)
    weights = np.zeros_like(level.colours)
    drawn = np.random.default_rng(1).integers(1, 9, len(level.inside))
    weights[: len(level.inside), :3] = np.where(level.inside, drawn, 0)[:, None]
    return level, weights


def place(level: Level, position: int) -> tuple[int, int]:
    row, column = divmod(int(position), level.stride)
    return row - HALF, column - HALF


def cost_one_by_one(level: Level, weights: Weights, target: int, source: int) -> int:
    picture, (row, column), (down, right) = level.picture().astype(int), place(level, target), place(level, source)
    total = 0
    for dy in range(-HALF, HALF + 1):
        for dx in range(-HALF, HALF + 1):
            if 0 <= row + dy < HEIGHT and 0 <= column + dx < WIDTH:
                difference = picture[row + dy, column + dx] - picture[down + dy, right + dx]
                total += int((difference**2).sum()) * int(weights[target + dy * level.stride + dx, 0])
    return total


def searched(code: Any, rounds: int) -> tuple[Level, Weights, Match]:
    level, weights = made()
    match = Match.none(level)
    for number in range(rounds):
        code.search(level, weights, match, level.targets, Draws((1, 2), (8, 2), 3, number))
    return level, weights, match


def test_costs_are_those_of_the_sources_found_and_sources_are_whole_and_known(code: Any) -> None:
    level, weights, match = searched(code, 2)
    hole = level.missing.reshape(-1, level.stride)[HALF:-HALF, HALF:-HALF]
    for target in level.targets:
        row, column = place(level, match.best[target])
        around = hole[row - HALF : row + HALF + 1, column - HALF : column + HALF + 1]
        assert around.shape == (5, 5)
        assert not around.any()
        assert match.cost[target] == cost_one_by_one(level, weights, target, match.best[target])
    assert (np.delete(match.best, level.targets) == NOWHERE).all()


def test_comes_near_the_best_of_all_sources(code: Any) -> None:
    level, weights, match = searched(code, 12)
    targets = level.targets[::29]
    best = [min(cost_one_by_one(level, weights, target, source) for source in level.sources) for target in targets]
    assert (match.cost[targets] >= best).all()
    assert match.cost[targets].sum() <= 1.1 * sum(best)


def test_votes_are_means_weighted_by_fit(code: Any) -> None:
    level, _, match = searched(code, 1)
    scale = 5000
    found = code.vote(level, match, level.targets, scale)
    for number in range(0, len(level.targets), 5):
        total, weight = np.zeros(3), 0
        for dy in range(-HALF, HALF + 1):
            for dx in range(-HALF, HALF + 1):
                step = dy * level.stride + dx
                centre = level.targets[number] - step
                if match.best[centre] != NOWHERE:
                    fit = 256 * scale // (scale + int(match.cost[centre])) + 1
                    total += fit * level.colours[match.best[centre] + step, :3].astype(float)
                    weight += fit
        assert np.abs(found[number, :3] - total / weight).max() <= 0.5


def test_random_numbers_are_splitmix_and_belong_to_a_pixel() -> None:
    def one_by_one(number: int) -> int:
        number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        number = (number ^ (number >> 27)) * 0x94D049BB133111EB % 2**64
        return number ^ (number >> 31)

    key, targets = 2**63 + 12345, np.array([3, 70000, 5], np.int32)
    wanted = [one_by_one((int(target) * 0x9E3779B97F4A7C15 + key + 2 * 0xD1B54A32D192ED03) % 2**64) for target in targets]
    assert random_numbers(targets, key, 2).tolist() == wanted
    assert random_numbers(targets[1:2], key, 2).tolist() == wanted[1:2]
