"""One file per theorem; each exports one constant ``CONSTRUCTION``."""
