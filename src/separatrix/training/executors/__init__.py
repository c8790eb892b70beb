"""Where groups are trained: in this process, in worker processes, on a Ray cluster."""
