"""Parallel scans and chunked linear attention in plain torch: every linear-time mixer stands on one of these.

No function loops over positions in Python; time and memory are linear in the length, as each module says.
"""
