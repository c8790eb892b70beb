"""One file per lower bound; each exports one constant ``BOUND``."""
