"""One file per task; each exports one constant ``TASK``. Files with a leading underscore are shared code."""
