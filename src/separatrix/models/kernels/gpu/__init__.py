"""The Triton kernels and the differentiable functions that launch them; modules here need Triton to be imported."""
