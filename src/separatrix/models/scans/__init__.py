"""Scans over positions in plain torch: every linear-time mixer uses one of these, every kernel is compared with one.

Time and memory are linear in the length, as each module says. Linear recurrences are parallel in time: none of these
functions loops over positions in Python. A gated recurrence has to (``gated``).
"""
