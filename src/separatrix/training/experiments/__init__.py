"""The papers' experiments by name."""
