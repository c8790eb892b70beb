"""Kernels for GPUs, each next to the plain version that is its oracle.

The functions here choose: a kernel where the tensors lie on a GPU (``available`` says which), the plain version of
``models.scans`` elsewhere. ``torch_layers`` and ``external`` hold the kernels that others wrote: torch's recurrent
layers, the CUDA kernels of mamba-ssm and causal-conv1d. With TRITON_INTERPRET=1 the kernels of ``gpu`` also run on the
CPU, slowly, for tests.
"""
