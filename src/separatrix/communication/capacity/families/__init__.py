"""One file per family of config files; each exports one constant ``FAMILY``."""
