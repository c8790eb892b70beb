"""Named tensors on their way into a module: each is checked when it is taken, and what is left over is known."""

from collections.abc import Mapping

from torch import Tensor, nn

from separatrix.errors import SeparatrixError


class Tensors:
    """Gives tensors by name, each once it has the shape that is asked for, and remembers which were taken."""

    def __init__(self, tensors: Mapping[str, Tensor], prefix: str = "", taken: set[str] | None = None) -> None:
        self._tensors, self._prefix = tensors, prefix
        self.taken: set[str] = set() if taken is None else taken

    def under(self, prefix: str) -> "Tensors":
        """Return the tensors whose names begin with this prefix and a dot."""
        return Tensors(self._tensors, f"{self._prefix}{prefix}.", self.taken)

    def take(self, name: str, *shape: int | None) -> Tensor:
        """Return the tensor of this name; None represents any size."""
        full = self._prefix + name
        if full not in self._tensors:
            raise SeparatrixError(f"the model has no tensor {full!r}; export it again")
        tensor = self._tensors[full]
        fits = len(tensor.shape) == len(shape) and all(
            wanted in (None, size) for wanted, size in zip(shape, tensor.shape, strict=True)
        )
        if not fits:
            wanted = ", ".join("any" if size is None else str(size) for size in shape)
            raise SeparatrixError(f"{full} has shape {tuple(tensor.shape)}, not ({wanted}); export it again")
        self.taken.add(full)
        return tensor

    def parameter(self, name: str, *shape: int | None) -> nn.Parameter:
        """Return the tensor as a weight that can be trained."""
        return nn.Parameter(self.take(name, *shape))
