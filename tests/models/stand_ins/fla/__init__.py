"""Stands in for the package flash-linear-attention, with its calling convention and none of its kernels."""
