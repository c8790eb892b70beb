"""Kernels for GPUs, each beside the plain version that is its oracle.

The functions here choose: a kernel where the tensors lie on a GPU (``available`` says which), the plain version of
``models.scans`` elsewhere. With TRITON_INTERPRET=1 the kernels also run on the CPU, slowly, for tests.
"""
