"""Numbers as people read them; plain text, not escaped."""

from __future__ import annotations

from inpaintbench.eval.alignment.align import Dimension
from inpaintbench.eval.alignment.bootstrap import Estimate
from inpaintbench.pages.words import count, number


def share(value: float | None) -> str:
    """A share in per cent with one decimal, or a dash."""
    return "–" if value is None else f"{number(100 * value, 1)} %"


def rate_words(one: Estimate) -> str:
    """``92.5 % (88.1 to 95.4)``."""
    return share(one.value) + rate_interval(one)


def rate_interval(one: Estimate) -> str:
    """`` (88.1 to 95.4)``, or nothing."""
    if one.low is None or one.high is None:
        return ""
    return f" ({number(100 * one.low, 1)} to {number(100 * one.high, 1)})"


def correlation_words(one: Estimate) -> str:
    """``0.93 (0.81 to 0.97)``."""
    return number(one.value, 2) + correlation_interval(one)


def correlation_interval(one: Estimate) -> str:
    """`` (0.81 to 0.97)``, or nothing."""
    if one.low is None or one.high is None:
        return ""
    return f" ({number(one.low, 2)} to {number(one.high, 2)})"


def asked(dimension: Dimension) -> str:
    """How much was answered: ``900 answers of 30 raters to 30 pairs of 10 sources``."""
    raters = "raters unknown" if dimension.n_raters is None else f"of {count(dimension.n_raters, 'rater')}"
    comma = "," if dimension.n_raters is None else ""
    pairs = f" to {count(dimension.n_pairs, 'pair')}" if dimension.n_pairs else ""
    return f"{count(dimension.answers, 'answer')}{comma} {raters}{pairs}, {count(dimension.n_sources, 'source')}"
