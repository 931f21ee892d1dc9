"""What a paper and its supplement need of a run: tables, figures, references, facts, and an archive that proves the tables."""
