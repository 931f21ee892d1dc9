"""Options that come from the fields of a recipe, and options that several commands share behind one parameter."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, make_dataclass
from typing import Annotated, Literal, get_args

import pytest
import typer
from pydantic import BaseModel, Field
from typer.testing import CliRunner, Result

from inpaintbench.cli.commands import Command
from inpaintbench.cli.options import NONE_GIVEN, Given, bundle, expanded, of_recipe, option
from inpaintbench.errors import UsageError
from inpaintbench.recipes import RECIPES
from inpaintbench.recipes.options import SIZE, Option, Seed, read_edges, write_edges


class Toy(BaseModel):
    name: str = "not asked for"
    seed: Seed = 7
    width: Annotated[int, SIZE] = Field(64, description="Of the toys.")
    height: int = 48
    share: Annotated[float, Option("Shares")] = Field(0.16, gt=0, le=0.5, description="Of the toys that are kept.")
    edges: Annotated[tuple[float, ...], Option("Shares", "--bins", read=read_edges, write=write_edges)] = (0.0, 0.25)
    words: Annotated[tuple[str, ...], Option("Words", "--word")] = ()
    kind: Annotated[Literal["bear", "car"], Option("Words")] = "bear"
    loud: Annotated[bool, Option("Words", "--loud/--quiet")] = False
    most: Annotated[int | None, Option("Shares", shown="all")] = Field(None, ge=1)


@dataclass(frozen=True)
class Work:
    hands: Annotated[int, option("How many.", min=1)] = 2
    hidden: int = 5


def toy(
    out: str,
    given: Annotated[Given, of_recipe(Toy)] = NONE_GIVEN,
    work: Annotated[Work, bundle(Work, panel="Work")] = Work(),
) -> None:
    """A toy.

    Args:
        out: Where it lies.
    """
    typer.echo(f"{out} {dict(sorted(given.items()))} {work}")


def call(*words: str) -> Result:
    app = typer.Typer(rich_markup_mode=None)
    app.command(cls=Command)(expanded(toy))
    return CliRunner().invoke(app, ["here", *words])


def test_a_command_gets_what_was_given_and_leaves_the_rest_to_the_recipe() -> None:
    assert call().stdout == "here {} Work(hands=2, hidden=5)\n"
    words = "--seed 1 --size 32x80 --bins 0,50 --word a --word b --kind car --quiet --most 3 --hands 4"
    given = {
        "edges": (0.0, 0.5),
        "height": 80,
        "kind": "car",
        "loud": False,
        "most": 3,
        "seed": 1,
        "width": 32,
        "words": ["a", "b"],
    }
    assert call(*words.split()).stdout == f"here {given} Work(hands=4, hidden=5)\n"


def test_help_defaults_bounds_and_panels_are_those_of_the_fields() -> None:
    shown = " ".join(call("--help").stdout.split())
    for words in (
        "Clips: --size WxH Of the toys. [default: (64x48)]",
        "Shares: --share <float range> Of the toys that are kept. [default: (0.16); x<=0.5]",
        "--bins <str> [default: (0,25)] --most <int range> [default: (all); x>=1]",
        "Words: --word <list[str]> --kind <str> [default: (bear)] --loud / --quiet Work: --hands <int range> How many.",
        "Dataset: --seed <int> Of every random choice. [default: (7)]",
    ):
        assert words in shown
    assert "--name" not in shown
    assert "--height" not in shown


@pytest.mark.parametrize("words", ["--share 0.6", "--most 0", "--hands 0"])
def test_bounds_are_checked_before_the_command_runs(words: str) -> None:
    done = call(*words.split())
    assert (done.exit_code, "Input should be" in done.output) == (2, True)


def test_text_that_means_nothing_is_wrong_use_in_a_sentence() -> None:
    done = call("--size", "32")
    assert isinstance(done.exception, UsageError)
    assert str(done.exception) == "size '32' is not WxH with sides of 16 to 9999, such as 832x480"


@dataclass(frozen=True)
class Told:
    """Work whose docstring tells of some fields.

    Attributes:
        hands --hand: How many,
            all day long. [default: two]
        tools: What they hold.
    """

    hands: int = 2
    tools: list[str] = field(default_factory=lambda: ["saw"])
    hidden: int = 5


def test_plain_fields_are_options_where_the_docstring_has_entries() -> None:
    options = [(one.name, one.default, get_args(one.annotation)[1]) for one in bundle(Told).parameters]
    assert [(name, default, told.help, told.show_default) for name, default, told in options] == [
        ("hands", 2, "How many, all day long.", "two"),
        ("tools", ["saw"], "What they hold.", True),
    ]


@pytest.mark.parametrize(
    ("entries", "line"),
    [
        ("hands How many.", "'hands How many.'"),
        ("        all day long.", "'all day long.'"),
        ("hands: How many.\n    tools What they hold.", "'tools What they hold.'"),
        ("hnads: How many.", "'hnads: How many.'"),
    ],
)
def test_entries_that_would_be_lost_are_refused_with_their_line(entries: str, line: str) -> None:
    def command(hands: int = 2) -> None:
        pass

    command.__doc__ = f"Work.\n\nArgs:\n    {entries}\n"
    with pytest.raises(ValueError, match=re.escape(line)):
        expanded(command)
    with pytest.raises(ValueError, match=re.escape(line)):
        bundle(make_dataclass("Work", [("hands", int, 2)], namespace={"__doc__": command.__doc__}))


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_is_shown_for_a_default_reads_as_that_default(recipe: str) -> None:
    kind = RECIPES.get(recipe)
    for name, one in kind.model_fields.items():
        for mark in one.metadata:
            if isinstance(mark, Option):
                assert one.description, f"{recipe}: {name} has no help"
            if isinstance(mark, Option) and mark.read and mark.shown is None and not mark.repeatable:
                value = (one.default, kind.model_fields[mark.beside].default) if mark.beside else one.default
                assert mark.read(mark.write(value)) == (pytest.approx(value) if isinstance(value, dict) else value)
