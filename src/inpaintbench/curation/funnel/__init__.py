"""HTML pages without network: what became of the footage, and what other thresholds would change."""

from inpaintbench.curation.funnel.write import write_funnel, write_what_if

__all__ = ["write_funnel", "write_what_if"]
