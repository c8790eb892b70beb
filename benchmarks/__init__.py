"""Benchmarks: each module has ``report()``, which measures against a named baseline in the same run."""
