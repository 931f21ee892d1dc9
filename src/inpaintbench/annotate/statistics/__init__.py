"""Statistics of votes: agreement, rankings, shares; stopping rules, and plans of how many votes a study needs."""
