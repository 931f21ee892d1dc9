"""Scores of a run arranged for readers: tables, quantities, their labels, and what to know before believing them."""
