"""Damaged, foreign and hostile files in the place of every file that the product reads."""
