"""Rule: answers come before their clip can have been watched."""

from __future__ import annotations

from inpaintbench.annotate.screening.base import Finding, Panel, ScreeningRule, at_least, share


class FasterThanClip(ScreeningRule):
    """Answers that came too soon by the server's clock, whatever the browser says it showed.

    Single answers of that kind never count (see ``Vote.too_soon``); who gives many of them is flagged with all of theirs.

    Args:
        share_too_soon: from this share of the timed answers on, 0..1.
        least: timed answers before anything is said.
    """

    name = "faster_than_clip"
    version = "1"
    title = "Faster than the clip"

    def __init__(self, *, share_too_soon: float = 0.1, least: int = 10) -> None:
        self.share_too_soon = share(share_too_soon, name="share_too_soon")
        self.least = at_least(least, name="least")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters who cannot have watched."""
        found = []
        for rater_id, votes in panel.of_rater.items():
            timed = [vote.too_soon for vote in votes if vote.available_seconds is not None]
            if len(timed) >= self.least and sum(timed) >= max(self.share_too_soon * len(timed), 1):
                found.append(Finding(rater_id, f"{sum(timed)} of {len(timed)} answers came before the clip was over"))
        return found
