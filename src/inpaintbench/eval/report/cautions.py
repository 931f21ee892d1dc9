"""All that is to be known before a table of one metric is believed."""

from __future__ import annotations

from inpaintbench.eval.report.floor_caution import floor_sentences
from inpaintbench.eval.report.pcons_caution import caution_sentences
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.set_notes import set_warning
from inpaintbench.eval.report.tables import Results


def cautions(results: Results, quantity: Quantity) -> list[str]:
    """Plain sentences: small sets, PCons with how sharp each method is inside the hole, methods not told from a floor."""
    small = set_warning(results, quantity)
    return [*([small] if small else []), *caution_sentences(results, quantity), *floor_sentences(results, quantity)]
