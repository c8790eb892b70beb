"""One file per family of sign codes, each exporting one ``FAMILY``."""
