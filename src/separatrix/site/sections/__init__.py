"""One file per section of the atlas; each exports one constant ``SECTION``."""
