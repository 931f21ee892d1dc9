"""`build ... --plan`, and the last words of a build on what it can tell."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inpaintbench import frozen
from inpaintbench.claims import tells_nothing, too_few
from inpaintbench.cli import console
from inpaintbench.cli.logs import StoppedError
from inpaintbench.errors import UsageError
from inpaintbench.executors.base import Rejection, is_note
from inpaintbench.export.growing import appended
from inpaintbench.masks.axes import AXES
from inpaintbench.pages.words import count
from inpaintbench.storage import Address
from inpaintbench.types import Clip, Dataset
from inpaintbench.workspace import Workspace

if TYPE_CHECKING:
    from inpaintbench.recipes.devil import DevilRecipe


@dataclass(frozen=True)
class Plan:
    """What is asked before a build, in its place.

    Selection:
        plan: Build nothing: say how many films find 1 dB and 0.5 dB, by a pilot on a few of these films; of films at an address
            how many requests, bytes and CPU hours a build takes.
        plan_deviation (DB): With --plan: by how much differences of two items of a clip scatter on every axis, above 0,
            without a pilot.
    """

    plan: bool = False
    plan_deviation: float | None = None

    def tell(self, recipe: DevilRecipe, folder: Path | Address | None, *, constants: Mapping[str, Any], out: Path) -> bool:
        """Say it where it is asked for; False where nothing is, and the build goes on.

        Args:
            recipe: of the benchmark.
            folder: of the films.
            constants: further ones of their source.
            out: the workspace.

        Raises:
            UsageError: it is asked of a benchmark that it says nothing of, or with a deviation that nothing can have.
            InputError: there are no films, or too few that can be read for a pilot.
            StoppedError: somebody stopped it.
        """
        if not self.plan:
            if self.plan_deviation is not None:
                raise UsageError("--plan-deviation is for --plan")
            return False
        if self.plan_deviation is not None and not 0 < self.plan_deviation < math.inf:
            raise UsageError(f"--plan-deviation is {self.plan_deviation:g}; give a number of dB above 0")
        if isinstance(folder, Address) and self.plan_deviation is None:
            self._tell_traffic(recipe, folder, constants, out)
            return True
        if not isinstance(folder, Path) or recipe.design != "paired":
            raise UsageError("--plan is for paired designs of a folder of films (--sources FOLDER --design paired)")
        from inpaintbench.recipes.telling import plan

        with _stopped_alone():
            planned = plan(recipe, folder, deviation=self.plan_deviation)
        console.print_table(planned.title, planned.heads, planned.rows)
        for line in planned.words:
            console.say(line)
        return True

    def _tell_traffic(self, recipe: DevilRecipe, address: Address, constants: Mapping[str, Any], out: Path) -> None:
        from inpaintbench.recipes.traffic import HEADS, foresee, row

        with _stopped_alone(), console.busy("a pilot on a few of the films"):
            found = foresee(recipe, address, constants=constants, out=out)
        films = count(found.films, "film" if not found.there else "new film")
        console.print_table(f"What a build from {films} into a bucket asks of object storage", HEADS, [row(found.traffic)])
        if found.there:
            console.say(
                f"{count(found.there, 'film')} of this recipe in the workspace ask for nothing more than the new dataset."
            )
        if not found.tried:
            return
        console.say(f"By a pilot on {found.tried} of them.")


@contextmanager
def _stopped_alone() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise StoppedError("stopped; a plan builds and keeps nothing, and the same command begins it anew") from None


def say_what_it_tells(dataset: Dataset) -> None:
    """A table of the least effect that each axis and each pair of slices finds; nothing for a benchmark that has none.

    How far pairs scatter is known of PSNR alone; of other primary quantities the table says whether there are enough films.
    """
    from inpaintbench.eval.comparing.simultaneous import POWER
    from inpaintbench.eval.protocols import PROTOCOLS, usual
    from inpaintbench.recipes import telling
    from inpaintbench.recipes.telling import COMPARED, can_tell

    found = can_tell(dataset)
    if not found:
        return
    metric, region = PROTOCOLS.get(usual(dataset)).primary
    told = [
        too_few(one.films) or ("not known" if metric != "psnr" or one.least is None else f"{one.least:.1f} dB") for one in found
    ]
    rows = [(one.name, one.films, one.n, words) for one, words in zip(found, told, strict=True)]
    console.print_table("What it can tell", ["axis or slices", "films", "pairs or items", "least effect"], rows)
    if metric != "psnr":
        console.say(f"least effect: on {metric}, the primary quantity, of which nobody has measured how far pairs scatter")
        return
    where = "where the exact hole is" if region == "object" else "in the hole"
    console.say(
        f"least effect: on PSNR {where}, found in {POWER:.0%} of benchmarks like this one with {COMPARED} methods, where they "
        "scatter as two built-in ones do on real films; --plan measures that on a few films of yours, so its numbers are others"
    )
    if words := telling.guessed_words([str(axis["name"]) for axis in dataset.facts.get("axes", ())]):
        console.say(words)


def say_what_pairs_tell(axis: str, dataset: Dataset, workspace: Workspace) -> None:
    """The same at the end of a build that makes pairs by itself, with a warning of too few films, or why it has no pairs."""
    reasons = [row.reason for row in workspace.table("rejected", Rejection) if not is_note(row.step)]
    if not any(fact["name"] == axis for fact in dataset.facts.get("axes", ())):
        why = f", such as: {reasons[0]}" if reasons else ""
        console.warn(f"warning: the benchmark has no pairs: no clip gave every level of {axis}{why}")
        return
    from inpaintbench.recipes.telling import can_tell

    films = {one.name: one.films for one in can_tell(dataset) if one.name == axis}
    for sentence in tells_nothing(films, films=len(set(frozen.sources_of(dataset).values()))):
        console.warn(f"warning: {sentence}")
    say_what_it_tells(dataset)


def warn_of_few_films(recipe: DevilRecipe, workspace: Workspace) -> None:
    """Say which slices and axes will tell nothing, and why, of a workspace with labels: before an hour of rendering.

    Slices without any clip have a reason of their own, and what grows holds items that are not drawn again.
    """
    from inpaintbench.recipes import devil

    if published := appended(workspace):
        # On axes that the published dataset does not have, some of its clips may be missing.
        members = published.members
        further = [axis for axis in recipe.axes_of_pairs if not members.get(f"{axis}-{AXES.get(axis).levels[0]}")]
        here = workspace.columns("clips", Clip, columns=["clip_id"])["clip_id"].to_pylist()
        if further and (gone := set(published.films).difference(here)):
            without = f"{count(len(gone), 'published clip')}, whose films are not among the sources"
            console.say(f"{' and '.join(further)} will be without {without}")
        return
    if recipe.behaviour != "corrected" or recipe.saved_masks is not None:
        return
    if (few := too_few(recipe.per_slice)) is not None:
        console.warn(f"warning: --per-slice {recipe.per_slice} gives no slice or axis more than {few}; give more")
        return
    drawn = devil.draw(recipe, workspace)
    films = {
        name: len({drawn.films[clip] for clip in clips}) for name, clips in {**drawn.labelled, **drawn.axes}.items() if clips
    }
    for sentence in tells_nothing(films, films=len(set(drawn.films.values()))):
        console.warn(f"warning: {sentence}")
