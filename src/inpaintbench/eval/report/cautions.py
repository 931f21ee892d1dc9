"""All that is to be known before a table of one metric is believed, for pages and for plain text."""

from __future__ import annotations

from html import escape

from inpaintbench.eval.report.floor_caution import floor_sentences
from inpaintbench.eval.report.markup import only_for
from inpaintbench.eval.report.pcons_caution import caution_sentences, pcons_caution
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.tables import Results


def caution_lines(results: Results, quantity: Quantity) -> str:
    """Lines above a table; empty where there is nothing to say."""
    lines = (escape(words, quote=False) for words in floor_sentences(results, quantity))
    return pcons_caution(results, quantity) + "".join(f'<p class="caution" {only_for(quantity)}>{words}</p>' for words in lines)


def cautions(results: Results, quantity: Quantity) -> list[str]:
    """The same as plain sentences, that on PCons with how sharp each method is inside the hole."""
    return [*caution_sentences(results, quantity), *floor_sentences(results, quantity)]
