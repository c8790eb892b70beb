"""One file for each figure."""
