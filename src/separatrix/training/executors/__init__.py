"""Where groups are trained: in this process one by one or taking turns, in worker processes, on a Ray cluster."""

EXECUTORS = ("local", "turns", "processes", "ray")
"""By name; it is here so that a command line can be checked without torch."""
