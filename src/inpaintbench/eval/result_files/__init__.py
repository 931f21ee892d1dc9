"""Scores in the forms of other people's collections: Every Eval Ever, and the results that model pages of the Hub show."""
