"""Submissions of several people and the site that compares them. Everything in a submission is untrusted."""
