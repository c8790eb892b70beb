"""Lower bounds that run: communication problems, protocols with counted bits, reductions, bounds."""
