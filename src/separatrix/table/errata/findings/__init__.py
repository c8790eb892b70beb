"""What the errata run, by topic: the function ``e13`` is that of E13."""
