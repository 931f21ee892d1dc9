"""What votes say: agreement, rankings, shares; when they are enough, and how many it will take."""
