"""One file per reduction; each exports one constant ``REDUCTION``."""
