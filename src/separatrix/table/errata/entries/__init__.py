"""One file for each erratum; each exports one constant ``ERRATUM``."""
