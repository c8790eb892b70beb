"""Planted faults against the checker; see ``__main__``."""
