"""One file per method of checking; each exports one constant ``METHOD``."""
