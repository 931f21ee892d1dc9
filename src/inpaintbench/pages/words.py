"""Numbers as words, the same on every page, in every table and in the console. Minus signs are true ones."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from markupsafe import Markup, escape

# In the place of a number that is missing.
DASH = "–"
_BREAKS = re.compile(r"([_/]|\.(?=[A-Za-z]))")
_HOURS_UNTIL_DAYS = 48


def _minus(text: str) -> str:
    """``text`` with a true minus sign, and none before a zero."""
    sign, digits = (text[0], text[1:]) if text[:1] in "+-" else ("", text)
    if not any(digit in "123456789" for digit in digits):
        sign = ""
    return sign.replace("-", "−") + digits


def number(value: float | None, decimals: int | None = None, *, digits: int = 3) -> str:
    """A number with so many ``decimals``, or else significant ``digits`` and whole from a thousand on; ``∞``; a dash for None."""
    if value is None or math.isnan(value):
        return DASH
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if decimals is not None:
        return _minus(f"{value:.{decimals}f}")
    return _minus(f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}")


def signed(value: float | None, decimals: int) -> str:
    """A difference with its sign: ``+1.20``, ``−0.30``; ``0.00`` where nothing is left of it."""
    return DASH if value is None else _minus(f"{value:+.{decimals}f}")


def share(part: float, whole: float) -> float | None:
    """``part`` of ``whole``, 0..1; None of nothing."""
    return part / whole if whole else None


def along(value: float, ends: Sequence[float]) -> float:
    """Where a value lies from the first end of a scale, 0, to the other, 1; what is beyond lies at the end."""
    return min(max((value - ends[0]) / (ends[1] - ends[0]), 0.0), 1.0) if ends[0] != ends[1] else 0.5


def percent(share: float | None, decimals: int | None = None) -> str:
    """A share 0..1 in per cent, with one decimal below ten unless told: ``4.2 %``, ``37 %``; a dash for None."""
    if share is None or math.isnan(share):
        return DASH
    if decimals is None:
        decimals = 1 if 0 < abs(share) < 0.0995 else 0
    return _minus(f"{100 * share:.{decimals}f}") + " %"


def signed_percent(share: float | None) -> str:
    """A change in per cent with its sign, with one decimal below ten: ``+4.2 %``."""
    if share is None:
        return DASH
    return _minus(f"{100 * share:+.{1 if abs(share) < 0.0995 else 0}f}") + " %"


def interval(low: float | None, high: float | None, decimals: int) -> str:
    """The two ends of an interval: ``1.20 – 1.41``; nothing where there is none."""
    return "" if low is None or high is None else f"{number(low, decimals)} – {number(high, decimals)}"


def percents(low: float | None, high: float | None) -> str:
    """The two ends of an interval of a share 0..1: ``31 – 45 %``; nothing where there is none."""
    return "" if low is None or high is None else f"{percent(low).removesuffix(' %')} – {percent(high)}"


def p_words(p: float | None) -> str:
    """The p of a test with two digits, or a bound where it is smaller than anyone cares: ``< 0.001``; a dash for None."""
    if p is None:
        return DASH
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def span(low: str, high: str) -> str:
    """The least and the largest of some values, or one where they are written alike: ``31.2 to 36.4``, ``36.2``."""
    return low if low == high else f"{low} to {high}"


def count(n: int, noun: str) -> str:
    """A number with its noun: ``1 item``, ``1,200 items``, ``2 studies``."""
    plural = noun[:-1] + "ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else noun + "s"
    return f"{n:,} {noun if n == 1 else plural}"


def some_of(names: Sequence[str], *, most: int = 8) -> str:
    """The first names in quotes, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def duration(seconds: float | None) -> str:
    """A time span: ``4.2 s``, ``12 min``, ``3 h 05 min``, ``4 days``; a dash for None."""
    if seconds is None:
        return DASH
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds >= 1 or not seconds else f"{number(seconds, digits=2)} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours < _HOURS_UNTIL_DAYS else f"{hours / 24:.0f} days"


def moment(seconds: float) -> str:
    """A time since the epoch in UTC: ``2026-01-31 14:05``."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def breakable(name: object) -> Markup:
    """A name that may break after underscores, slashes, and dots before a letter."""
    parts = _BREAKS.split(str(name))
    return Markup("").join(escape(part) + Markup("<wbr>") if place % 2 else escape(part) for place, part in enumerate(parts))


def css_class(name: object) -> str:
    """A name as one word of a stylesheet."""
    return "-".join(part for part in re.split(r"[^a-z0-9]+", str(name).lower()) if part) or "none"


def method_class(name: str) -> str:
    """The class by which a page colours a method: no two methods share one, whatever letters their names have."""
    return f"method-{hashlib.sha256(name.encode()).hexdigest()[:10]}"
