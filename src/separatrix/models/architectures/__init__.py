"""One file for each architecture; each exports one ``ARCHITECTURE``."""
