"""Commands of wings end by naming what follows, or show something and end a way."""

from __future__ import annotations

from tests.cli.test_next_commands import silent

# They print, draw or change what is there, and nothing in particular follows.
NOTHING_FOLLOWS = {
    "bench list",
    "bench show",
    "curation recheck",
    "curation attribution",
    "eval table --for ranks",
    "eval run --for edits",
    "eval report --for transcript",
    "eval align",
    "eval run --for reinpainting",
    "eval table --for reinpainting",
    "eval run --for stability",
    "eval table --for selection",
    "eval table --for reinpainting-paper",
}


def test_commands_tell_what_follows() -> None:
    assert silent(of_wings=True) == NOTHING_FOLLOWS
