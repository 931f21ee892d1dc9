"""HTML pages without network: what became of the footage, and what other thresholds would change."""
