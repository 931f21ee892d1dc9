"""Contract of every mask generator, whatever it draws."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from inpaintbench import contracts
from inpaintbench.contracts import NotChecked, checks_above, require
from inpaintbench.errors import Rejected
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.view import PARTS, ItemView

_SIZES = ((1, 64, 96), (9, 120, 160), (3, 97, 131))
_SEEDS = 3


def states_its_facts(generator: Generator) -> None:
    """Name, version, documentation, and the parts of a clip that it reads."""
    contracts.states_its_facts(generator, "needs")
    foreign = set(generator.needs) - set(PARTS)
    require(not foreign, f"it needs {', '.join(sorted(foreign))}; choose from {', '.join(PARTS)}")


def draws_holes_of_the_clip_s_shape(generator: Generator) -> None:
    """``bool[T, H, W]`` with a hole in it; or an input, of generators that degrade everything."""
    for view, drawn in _drawings(generator):
        shape = (view.frames, view.height, view.width)
        if drawn.hole is None:
            require(drawn.input is not None, "it draws neither a hole nor an input")
            continue
        require(drawn.hole.dtype == np.bool_ and drawn.hole.shape == shape, f"a hole of {drawn.hole.shape}, the clip is {shape}")
        require(drawn.hole.any(), "its hole is empty; raise Rejected with a reason instead")


def paints_where_its_hole_is(generator: Generator) -> None:
    """Overlays give opacity and colour in the clip's shape, and the hole is where they cover anything."""
    for view, drawn in _drawings(generator):
        if drawn.alpha is None:
            raise NotChecked("it paints nothing")
        fits = drawn.colour is not None and drawn.colour.shape == (view.frames, view.height, view.width, 3)
        require(fits, "it gives opacity without a colour for every pixel")
        require(drawn.hole is not None and np.array_equal(drawn.hole, drawn.alpha > 0), "its hole is not where alpha is above 0")


def draws_the_same_for_the_same_seed(generator: Generator) -> None:
    """Randomness comes from the generator that it is given and from nowhere else."""
    for (_, one), (_, other) in zip(_drawings(generator), _drawings(generator), strict=True):
        for part in ("hole", "alpha", "input"):
            require(np.array_equal(*(getattr(drawn, part) for drawn in (one, other))), f"the same seed draws another {part}")
        require(one.facts == other.facts, "the same seed has other facts")


def states_facts_that_are_plain_data(generator: Generator) -> None:
    """Numbers, texts and lists, which tables and slices can hold."""
    for _, drawn in _drawings(generator):
        json.dumps(dict(drawn.facts), allow_nan=False)


CHECKS = checks_above(globals())


def _drawings(generator: Generator) -> Iterator[tuple[ItemView, Drawn]]:
    if generator.needs:
        raise NotChecked(f"it draws for clips with {', '.join(generator.needs)}")
    drawn = 0
    for frames, height, width in _SIZES:
        for seed in range(_SEEDS):
            view = ItemView(item_id="item", frames=frames, height=height, width=width, fps=25.0, parts={})
            try:
                made = generator.generate(view.declaring(generator.name, ()), np.random.default_rng(seed))
            except Rejected as error:
                require(str(error), "it refuses a clip without a reason")
                continue
            drawn += 1
            yield view, made
    if not drawn:
        raise NotChecked("it refuses every clip that is tried")
