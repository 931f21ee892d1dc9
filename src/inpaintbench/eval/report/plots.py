"""The plots of the report (DEVIL, CVPR 2022, Figures 4 to 9).

Each plot is one chart over the rows of all metrics; the page's script takes the rows of what is chosen. The tables for readers
without scripts or without sight are those of ``slice_tables``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from inpaintbench.claims import ENOUGH_SOURCES, too_few
from inpaintbench.eval.report.slice_tables import Compared, series_words, step_means
from inpaintbench.eval.results.quantity import Quantity, name_label, slice_label, with_unit
from inpaintbench.eval.results.slices import Pair, Series, in_reading_order, pair_slices, split_level
from inpaintbench.eval.results.tables import Results
from inpaintbench.lazily import lazily
from inpaintbench.pages import MethodStyle
from inpaintbench.pages.plots import WIDTH, method_looks
from inpaintbench.pages.words import count, signed_percent
from inpaintbench.types import Slice

if TYPE_CHECKING:
    import altair as alt
else:
    alt = lazily("altair")  # takes a quarter of a second, and most commands draw nothing

# So many slices have slanted names, since they do not fit side by side.
_SLANT_FROM = 7
# Width of a panel of steps, and of a character below it.
_FEWEST_PIXELS, _CHARACTER = 110, 7
# Share of a scale that is kept free beyond its ends, so that marks there are seen whole.
_ROOM = 0.06
PlotRow = dict[str, Any]


@cache
def _rows() -> alt.NamedData:
    # One object for all: altair takes layers of equal ones for layers of other data, and refuses to facet them.
    return alt.NamedData(name="rows")


def chart_of_rows() -> alt.Chart:
    """An empty chart over the rows that the page's script chooses."""
    return alt.Chart(_rows())


def difficulty_chart(results: Results, styles: dict[str, MethodStyle]) -> alt.LayerChart | alt.FacetChart:
    """Bars of the mean over methods of each slice with standard errors, a dot for each method (DEVIL, Figure 4)."""
    names = [slice_words(part) for part in in_reading_order(results.slices)]
    angle = -35 if len(names) >= _SLANT_FROM else 0
    axis = alt.Axis(labelAngle=angle, labelLimit=220, ticks=False)
    x = alt.X("slice:N", sort=names, title=None, axis=axis)
    y = alt.Y("value:Q", title=None)
    base = chart_of_rows().encode(x=x, description="told:N")
    opacity = alt.Opacity("level:O", scale=alt.Scale(domain=["low", "high", "other"], range=[0.3, 0.62, 0.45]), legend=None)
    # Rectangles from band to band: beside dots that are offset by method, Vega makes bars as narrow as one method.
    bars = base.transform_filter("datum.kind == 'mean'").mark_rect(color="var(--soft)")
    errors = base.transform_filter("datum.kind == 'mean' && datum.low != null").mark_rule(strokeWidth=1.5)
    few = base.transform_filter("datum.kind == 'few'").mark_point(
        filled=False, shape="diamond", size=130, strokeWidth=2, color="var(--soft)"
    )
    aside = alt.XOffset("method:N", sort=list(styles))
    looks = method_looks(styles)
    floors = base.transform_filter("datum.kind == 'reference'")
    return alt.layer(
        bars.encode(x.bandPosition(0.12), alt.X2("slice:N", bandPosition=0.88), y, alt.Y2Datum(0), opacity),
        errors.encode(y="low:Q", y2="high:Q"),
        few.encode(y=y),
        *(points.encode(y=y, **looks, xOffset=aside) for points in _points(base, filled="method", hollow="few method", size=85)),
        floors.mark_rule(strokeDash=[5, 3], strokeWidth=2, color="var(--faint)").encode(
            x.bandPosition(0), alt.X2("slice:N", bandPosition=1), y
        ),
        *(layer.encode(x.bandPosition(0.5), y) for layer in _words(floors, "text", dy=-8, fontSize=11)),
    ).properties(height=320)


def difficulty_rows(results: Results) -> list[PlotRow]:
    """Rows of ``difficulty_chart`` for every quantity."""
    slices, rows = in_reading_order(results.slices), list[PlotRow]()
    for quantity in results.quantities:
        spreads = {part.name: results.difficulty(part, quantity) for part in slices}
        means = {
            (part.name, method): _drawable(results.summary(part, method, quantity).mean)
            for part in slices
            for method in results.methods
        }
        competing = [value for (_, method), value in means.items() if method in results.contenders]
        ends = _extent([*(_drawable(spread.mean) for spread in spreads.values()), *competing])
        for index, part in enumerate(slices):
            spread, name = spreads[part.name], slice_words(part)
            few = results.few(part, quantity)
            shared = {**quantity._asdict(), "slice": name}
            if spread.mean is not None and math.isfinite(spread.mean):
                error = spread.standard_error
                over = f"mean over {count(spread.n, 'method')} {with_unit(spread.mean, quantity.metric)}"
                rows.append(shared | {
                    "kind": "few" if few else "mean", "level": split_level(part.name)[1] or "other", "value": spread.mean,
                    "low": None if error is None else spread.mean - error, "high": None if error is None else spread.mean + error,
                    "told": _told(f"{name}: {over}", few),
                })  # fmt: skip
            for method in (method for method in results.methods if means[part.name, method] is not None):
                value = means[part.name, method] or 0.0
                if method in results.contenders:
                    own = results.unfit(part, method, quantity)
                    told = _told(f"{method}, {name}: {with_unit(value, quantity.metric)}", own)
                    rows.append(
                        shared | {"kind": "few method" if own else "method", "method": method, "value": value, "told": told}
                    )
                    continue
                at, beyond = _clamped(value, ends)
                words = f"{method} {with_unit(value, quantity.metric)}{beyond}"
                # One label is enough where all lie inside the scale; at the edge each tells its value.
                text, told = words if beyond or not index else "", f"{words}, {results.role(method)}"
                rows.append(shared | {"kind": "reference", "value": at, "told": told, "text": text})
    return rows


def sensitivity_chart(styles: dict[str, MethodStyle], methods: Sequence[str], pairs: Sequence[Pair]) -> alt.FacetChart:
    """Relative improvement from low to high: a panel for each attribute, a bar for each method (DEVIL, Figures 5 to 9)."""
    y = alt.Y("value:Q", title=None, axis=alt.Axis(format="+~%", tickCount=5))
    x = alt.X("method:N", sort=list(methods), title=None, axis=None)
    base = chart_of_rows().encode(x=x, y=y, description="told:N")
    looks = method_looks(styles)
    floors = base.transform_filter("datum.kind == 'reference'")
    layers = alt.layer(
        base.transform_filter("datum.kind == 'bar'").mark_bar().encode(color=looks["color"]),
        *(points.encode(**looks) for points in _points(base, filled="bar", hollow="few", size=75)),
        base.transform_filter("datum.kind == 'none'").mark_text(text="–", color="var(--soft)"),
        floors.mark_rule(strokeDash=[5, 3], color="var(--faint)").encode(x=alt.value(0), x2=alt.value("width")),
        *(layer.encode(x=alt.value("width")) for layer in _words(floors, "text", align="right", dx=-2, dy=-6, fontSize=10)),
        chart_of_rows().mark_rule(color="var(--strong-line)").encode(y=alt.datum(0)),
    ).properties(height=150, width=110)
    names = [name_label(pair.attribute) for pair in pairs]
    header = alt.Header(labelExpr="split(datum.label, ' ')", labelLineHeight=14, title=None)
    return layers.facet(column=alt.Column("attribute:N", sort=names, header=header, title=None), spacing=12)


def sensitivity_rows(results: Results) -> list[PlotRow]:
    """Rows of ``sensitivity_chart`` for every quantity that ranks."""
    pairs, rows = pair_slices(results.slices), list[PlotRow]()
    for quantity in (quantity for quantity in results.quantities if quantity.ranked):
        ends = _extent([results.improvement(pair, method, quantity) for pair in pairs for method in results.contenders])
        for pair in pairs:
            attribute = name_label(pair.attribute)
            shared = {**quantity._asdict(), "attribute": attribute}
            for method in results.contenders:
                share, few = results.improvement(pair, method, quantity), results.unfit_change(pair, method, quantity)
                kind = "none" if share is None else "few" if few else "bar"
                told = _told(f"{method}, {attribute}: {'no value' if share is None else signed_percent(share)}", few)
                rows.append(shared | {"kind": kind, "method": method, "value": share or 0.0, "told": told})
            for method in results.aside if results.contenders else ():
                if (share := results.improvement(pair, method, quantity)) is not None:
                    at, beyond = _clamped(share, ends)
                    words = f"{method} {signed_percent(share)}{beyond}"
                    # Drawn through the whole panel, whoever it is placed beside.
                    place = {"kind": "reference", "method": results.contenders[0], "value": at}
                    rows.append(shared | place | {"text": words, "told": f"{words}, {results.role(method)}"})
    return rows


def steps_chart(styles: dict[str, MethodStyle], series: Sequence[Series]) -> alt.FacetChart:
    """Mean of each method against the steps of an attribute: a panel for each attribute, a line for each method."""
    steps = list(dict.fromkeys(step for one in series for step, _ in one.steps))
    base = chart_of_rows().encode(
        x=alt.X("step:O", sort=steps, title=None, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5)),
        description="told:N",
    )
    looks = method_looks(styles)
    floors = base.transform_filter("datum.kind == 'reference'")
    names = [series_words(one) for one in series]
    characters = [max(len(name), sum(len(step) + 1 for step, _ in one.steps)) for name, one in zip(names, series, strict=True)]
    width = max(_FEWEST_PIXELS, _CHARACTER * max(characters, default=0))
    layers = alt.layer(
        floors.mark_line(strokeDash=[5, 3], color="var(--faint)").encode(detail="method:N"),
        base.transform_filter("datum.kind != 'reference'")
        .mark_line(strokeWidth=1.5, aria=False)
        .encode(color=looks["color"], detail="method:N"),
        *(points.encode(**looks) for points in _points(base, filled="method", hollow="few", size=75)),
        *_words(floors, "text", align="right", dy=-6, fontSize=10),
    ).properties(height=170, width=width)
    header = alt.Header(labelLimit=width, title=None)
    facet = alt.Facet("attribute:N", sort=names, header=header, title=None)
    panels = layers.facet(facet=facet, columns=max(1, WIDTH // (width + 12)), spacing=12)
    found: alt.FacetChart = panels.resolve_scale(x="independent")  # attributes have steps of their own
    return found


def steps_rows(results: Results, steps: Mapping[tuple[str, Quantity], Compared]) -> list[PlotRow]:
    """Rows of ``steps_chart`` for every quantity; ``steps`` of ``compared``."""
    found = {key: list(step_means(results, one, key[1])) for key, one in steps.items()}
    drawn: dict[Quantity, list[float | None]] = {quantity: [] for _, quantity in steps}
    for (_, quantity), series in found.items():
        drawn[quantity] += [_drawable(means[method].mean) for _, means in series for method in results.contenders]
    ends = {quantity: _extent(values, from_zero=False) for quantity, values in drawn.items()}
    rows: list[PlotRow] = []
    for (name, quantity), series in found.items():
        attribute = series_words(steps[name, quantity].series)
        for step, means in series:
            shared = {**quantity._asdict(), "attribute": attribute, "step": step}
            for method in (method for method in results.methods if _drawable(means[method].mean) is not None):
                value = means[method].mean or 0.0
                if method in results.contenders:
                    few = too_few(means[method].n_clusters)
                    told = _told(f"{method}, {attribute} {step}: {with_unit(value, quantity.metric)}", few)
                    rows.append(shared | {"kind": "few" if few else "method", "method": method, "value": value, "told": told})
                    continue
                at, beyond = _clamped(value, ends[quantity])
                words = f"{method} {with_unit(value, quantity.metric)}{beyond}"
                # The line has its name where it ends; at the edge each panel tells the value that it stands for.
                text = (words if beyond else method) if step == series[-1][0] else ""
                told = f"{words}, {attribute} {step}, {results.role(method)}"
                rows.append(shared | {"kind": "reference", "method": method, "value": at, "told": told, "text": text})
    return rows


def means_chart(styles: Mapping[str, MethodStyle], panels: Sequence[str], *, apart: bool = False) -> alt.FacetChart:
    """Means of methods with their intervals: a row for each method, a panel for each of ``panels``.

    A reference is a dashed line through the whole panel, with its value in its own row, below those of ``styles``.

    Args:
        styles: of the methods that compete.
        panels: names, of one line or several.
        apart: panels have scales of their own, as metrics need.
    """
    axis, looks = alt.Axis(grid=True, tickCount=4), method_looks(styles)
    colour = looks["color"]
    x = alt.X("value:Q", title=None, scale=alt.Scale(zero=False), axis=axis)
    rows = chart_of_rows().encode(description="told:N")
    base, floors = rows.encode(y=alt.Y("method:N", sort=list(styles), title=None)), "datum.kind == 'reference'"
    layers = alt.layer(
        rows.transform_filter(floors)
        .mark_rule(strokeDash=[5, 3], color="var(--faint)")
        .encode(x=x, y=alt.value(0), y2=alt.value("height")),
        base.transform_filter("datum.low != null").mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q"), x2="high:Q", color=colour),
        *(points.encode(x=x, **looks) for points in _points(base, filled="method", hollow="few", size=75)),
        *(
            words.encode(x=x)
            for side, dx in (("left", 4), ("right", -4))
            for at in [base.transform_filter(f"{floors} && datum.side == '{side}'")]
            for words in _words(at, "text", align=side, dx=dx, fontSize=10)
        ),
    ).properties(width=120, height={"step": 24})  # fmt: skip
    header = alt.Header(title=None, labelFontWeight=500, labelExpr="split(datum.label, '\\n')", labelLineHeight=16)
    panelled = layers.facet(facet=alt.Facet("panel:N", sort=list(panels), header=header, title=None), columns=4)
    found: alt.FacetChart = panelled.resolve_scale(x="independent" if apart else "shared")
    return found


def means_rows(results: Results, parts: Mapping[str, Slice], quantity: Quantity) -> Iterator[PlotRow]:
    """Rows of ``means_chart`` for panels of one quantity on one scale; a method without a finite mean has none.

    Args:
        results: the scores.
        parts: name of a panel -> the slice it shows.
        quantity: what is drawn.
    """
    found = {
        (panel, method): results.summary(part, method, quantity) for panel, part in parts.items() for method in results.methods
    }
    own = [summary for (_, method), summary in found.items() if method in results.contenders]
    ends = _extent(
        [_drawable(end) for one in own for end in (one.mean, one.interval_low, one.interval_high)], from_zero=False
    )  # fmt: skip
    for (panel, method), summary in found.items():
        if (mean := _drawable(summary.mean)) is None:
            continue
        shared = {**quantity._asdict(), "panel": panel, "method": method}
        words = f"{method}, {' '.join(panel.split())}: {with_unit(mean, quantity.metric)}"
        if method in results.contenders:
            few = results.unfit(parts[panel], method, quantity)
            yield shared | {
                "kind": "few" if few else "method", "value": mean, "low": summary.interval_low, "high": summary.interval_high,
                "told": _told(words, few),
            }  # fmt: skip
        else:
            at, beyond = _clamped(mean, ends, arrows=(" ←", " →"))
            yield shared | {
                "kind": "reference", "value": at, "low": None, "high": None, "told": f"{words}{beyond}, {results.role(method)}",
                "text": f"{with_unit(mean, quantity.metric)}{beyond}", "side": "left" if 2 * at < sum(ends) else "right",
            }  # fmt: skip


def scatter_chart(styles: dict[str, MethodStyle], *, x: str = "x", y: str = "y") -> alt.LayerChart | alt.FacetChart:
    """A metric against an attribute: a dot for each item and method, a dashed line for the mean of each reference.

    ``x`` and ``y`` are the names of the axes.
    """
    numbers = alt.Scale(zero=False)
    across, up = alt.X("x:Q", scale=numbers, title=x, axis=alt.Axis(grid=True)), alt.Y("y:Q", scale=numbers, title=y)
    dots = chart_of_rows().transform_filter("datum.kind == 'dot'").mark_point(filled=True, size=85, opacity=0.8)
    floors = chart_of_rows().transform_filter("datum.kind == 'reference'").encode(y=up, description="told:N")
    return alt.layer(
        dots.encode(x=across, y=up, **method_looks(styles), description="told:N"),
        floors.mark_rule(strokeDash=[5, 3], color="var(--faint)"),
        *(layer.encode(x=alt.value("width")) for layer in _words(floors, "told", align="right", dy=-6, fontSize=11)),
    ).properties(height=380)


def _words(base: alt.Chart, field: str, **look: Any) -> Iterator[alt.Chart]:
    """Text above a line, with a rim in the colour of the page, so that it can be read over bars and dots."""
    yield base.mark_text(stroke="var(--ground)", strokeWidth=3, strokeJoin="round", aria=False, **look).encode(text=f"{field}:N")
    yield base.mark_text(color="var(--soft)", **look).encode(text=f"{field}:N")


def slice_words(part: Slice) -> str:
    """A slice with its level: ``Camera motion: low``."""
    level = split_level(part.name)[1]
    return f"{slice_label(part.name)}: {level}" if level else slice_label(part.name)


def _points(base: alt.Chart, *, filled: str, hollow: str, size: int) -> Iterator[alt.Chart]:
    """Points of rows of two kinds: those that a claim can rest on, and those without one, which only have a rim."""
    full = base.transform_filter(f"datum.kind == '{filled}'")
    yield full.mark_point(filled=True, size=size, opacity=1, stroke="var(--ground)", strokeWidth=1, aria=filled != "bar")
    yield base.transform_filter(f"datum.kind == '{hollow}'").mark_point(filled=False, size=size + 15, opacity=1, strokeWidth=2)


def hollow_note(rows: Iterable[PlotRow]) -> str:
    """Sentence on hollow points in plots of ``rows``, where there are some; else empty."""
    few = any(row["kind"].startswith("few") for row in rows)
    reasons = f"fewer than {ENOUGH_SOURCES} sources, fewer items than others have, or a diagnostic metric against the primary one"
    return f"Hollow points: {reasons}, so no bar, no error and no claim." if few else ""


def reading_notes(rows: Sequence[PlotRow]) -> list[str]:
    """How to read marks of ``rows`` that are no means of competing methods, a sentence each."""
    dashed = any(row["kind"] == "reference" for row in rows)
    return [*(["Dashed: references and others that do not compete."] if dashed else []), *filter(None, [hollow_note(rows)])]


def _told(words: str, few: str | None) -> str:
    """What a mark says, with the reason why it bears no claim."""
    return f"{words}; {few}" if few else words


def _extent(values: Sequence[float | None], *, from_zero: bool = True) -> tuple[float, float]:
    """The ends of a scale that holds the values, with a little room; where there are none, of one that clamps nothing to them."""
    known = [*([0.0] if from_zero else []), *(value for value in values if value is not None)]
    if not known:
        return -math.inf, math.inf
    low, high = min(known), max(known)
    room = _ROOM * (high - low) or (1.0 if from_zero else _ROOM * abs(low) or 1.0)
    return low - room * (low < 0 or not from_zero), high + room * (high > 0 or low == high or not from_zero)


def _clamped(value: float, ends: tuple[float, float], *, arrows: tuple[str, str] = (" ↓", " ↑")) -> tuple[float, str]:
    """Where on a scale a reference is drawn, which stretches none: inside, or at the nearer end with an arrow beyond it."""
    low, high = ends
    return min(max(value, low), high), arrows[0] if value < low else arrows[1] if value > high else ""


def _drawable(mean: float | None) -> float | None:
    """Nothing stands where a mean is infinite."""
    return mean if mean is not None and math.isfinite(mean) else None
