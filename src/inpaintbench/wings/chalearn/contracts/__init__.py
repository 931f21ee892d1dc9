"""Rules that every reader and every estimator of poses has to keep."""
