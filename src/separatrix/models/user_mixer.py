"""A user's sequence-mixing module as an architecture: ``package.module:MixerClass-(2,128)``.

Any ``torch.nn.Module`` that maps (batch, length, width) to the same shape will do. It is made as ``MixerClass(width)``,
further parameters of its constructor are options of the model's name (``…-(2,128,window=8)``), and it is placed in the
common block: embedding, learned positions, pre-norm, feed-forward, readout. ``FILE.py:MixerClass`` loads a file.

What a module may tell, all optional:

- ``causal = True``: an output depends on no later position. Left out, this is found by a trial: the future of a random
  input is changed, and the module counts as causal if no earlier output moves. The trial is made in any case, and a
  remark says where it contradicts.
- a parameter ``lengths`` of ``forward``, (batch,) int64, for modules that are not causal and mask their padding.
  Without it, padding is set to zero before such a module sees it: its content cannot leak, that it is there can.
- ``vmap = False``: members run one after the other, without a trial of vmap.
- buffers (``register_buffer``): each member has its own, made by its own constructor. Those that torch would save are
  kept in checkpoints and weights next to the parameters, and so is every buffer that a call in training changes, such
  as running statistics; a trial finds these, and members then run one after the other. What a module keeps elsewhere,
  in plain attributes, is not saved.
- a static ``state_numbers(width, length)``: numbers carried past a cut; else width times length, which always suffice.
  Options of the constructor that it names as parameters are passed. A module that looks ahead is not asked.

A module whose output is not of the input's shape and dtype, or that gives another output for the same input when called
again in evaluation, is refused; of one that mixes the examples of a batch a remark tells.

An ensemble runs as one program by ``torch.func.vmap`` where that works, which is tried when the model is built, and by
a loop over members where not; ``batching`` and ``batching_reason`` of the mixer say which and why. Each member is made
by the module's own constructor under the member's own seed.

How a name becomes such an architecture is in ``user_architecture``.
"""

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from separatrix.errors import SeparatrixError
from separatrix.models.mixer import Mixer, at_positions
from separatrix.models.starts import Generators

TRIAL = (2, 5)
"""Batch and length of the input on which a module is tried."""
AGREEMENT = 1e-4
"""How far vmap and loop may differ on the trial, relative to the largest output."""
ROUNDING = 1e-5
"""How far an output may move by rounding alone, as that of a causal convolution by Fourier transforms does."""
REACH = 128
"""Length of the input on which it is tried what a module carries past a cut."""


class UserMixer(Mixer):
    """E instances of a user's module, with their parameters stacked along a leading axis."""

    # Nobody knows what a user's module does, and vmap and compilation do not always go together.
    compiles = False

    def __init__(self, make: Callable[[], nn.Module], name: str, width: int, members: int, trial: torch.device) -> None:
        super().__init__(members)
        self.name, self.width, self._make = name, width, make
        example = self._instance(0)
        # In a list, so that torch does not count the parameters of this instance, which are never used.
        self._template = [example]
        self._parameters_of = [each for each, _ in example.named_parameters()]
        self._buffers_of = [each for each, _ in example.named_buffers()]
        self.takes_lengths = "lengths" in inspect.signature(example.forward).parameters
        self._changing = self._changed_in_training(trial)
        kept = {*example.state_dict(), *self._changing}
        for each, value in [*example.named_parameters(), *example.named_buffers()]:
            if value.is_complex():
                # Weights are of one real type, and torch would drop the imaginary part.
                raise SeparatrixError(f"{name} has complex numbers in {each}; keep them as pairs by torch.view_as_real")
            stacked = value.detach().unsqueeze(0).repeat(members, *[1] * value.dim())
            if each in self._buffers_of:
                self.register_buffer(_attribute_name(each), stacked, persistent=each in kept)
            else:
                self.register_parameter(_attribute_name(each), nn.Parameter(stacked))
        self.batching, self.batching_reason = "loop", "one member"
        self._try(example.to(trial), trial)

    def _instance(self, seed: int) -> nn.Module:
        """Return a fresh instance under a seed; the global generator is left as it was."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            try:
                return self._make()
            except Exception as error:
                given = f"{type(error).__name__}: {error}"
                raise SeparatrixError(
                    f"{self.name} could not be made with width {self.width}: {given}; its constructor takes the width "
                    "first, and everything else it needs is given as options"
                ) from error

    @torch.no_grad()
    def _changed_in_training(self, device: torch.device) -> list[str]:
        """Return the buffers that a call in training changes, found by a trial of two calls with inputs that differ."""
        module = self._instance(0).to(device).train()
        # ``named_buffers`` leaves out those that are None until they are needed.
        if not any(vars(each)["_buffers"] for each in module.modules()):
            return []
        x, more = self._trial_input(device)
        found = [_copies(module.named_buffers())]
        for given in (x, x + 1.0):
            self._checked(module, given, more)
            found.append(_copies(module.named_buffers()))
        for name, last in found[2].items():
            if name not in found[0] and name in found[1] and not torch.equal(last, found[1][name]):
                raise SeparatrixError(
                    f"{self.name} makes its buffer {name} in forward and changes it there: it cannot be kept for each "
                    "member; register it with its shape in the constructor"
                )
        # One of another shape is a table that grows with the length and is made again in every call.
        same = [name for name, each in found[0].items() if name in found[2] and found[2][name].shape == each.shape]
        return [name for name in same if not torch.equal(found[0][name], found[2][name])]

    def _trial_input(self, device: torch.device) -> tuple[Tensor, dict[str, Tensor]]:
        batch, length = TRIAL
        x = torch.randn(batch, length, self.width, generator=torch.Generator().manual_seed(0)).to(device)
        return x, {"lengths": torch.full((batch,), length, device=device)} if self.takes_lengths else {}

    def _try(self, example: nn.Module, device: torch.device) -> None:
        """Check the shapes, find out whether the module is causal and whether vmap works."""
        # Without dropout and the like, so that two runs can be compared.
        example.eval()
        x, more = self._trial_input(device)
        with torch.no_grad():
            output = self._checked(example, x, more)
            if not _same(self._checked(example, x, more), output, ROUNDING):
                raise SeparatrixError(
                    f"{self.name} gives another output when it is called again with the same input: it keeps state "
                    "between calls; let forward begin anew every time"
                )
            declared = getattr(example, "causal", None)
            changed = torch.cat([x[:, :3], x[:, 3:] + 1.0], dim=1)
            before = self._checked(example, changed, more)[:, :3]
            others = torch.cat([x[:1], x[1:] + 1.0])
            alone = _same(self._checked(example, others, more)[:1], output[:1], ROUNDING)
        self.causal = _same(before, output[:, :3]) if declared is None else bool(declared)
        self._surprises: list[str] = []
        if self.causal and not _same(before, output[:, :3], ROUNDING):
            self._surprises.append(f"{self.name} says causal = True, and its outputs depend on later positions")
        if not alone:
            self._surprises.append(f"{self.name} mixes the examples of a batch: its answers depend on the others there")
        if not getattr(example, "vmap", True):
            self.batching_reason = "the module says vmap = False"
        elif self._changing:
            self.batching_reason = f"training changes its buffer {self._changing[0]}"
        elif self.members > 1:
            self.batching, self.batching_reason = self._choose_batching(example, x, more)
        example.to("cpu")

    @torch.no_grad()
    def reaches(self) -> tuple[bool, bool]:
        """Return whether an output depends on a later position, and whether on an earlier one; a trial on a longer
        input."""
        example = self._instance(0).eval()
        x = torch.randn(1, REACH, self.width, generator=torch.Generator().manual_seed(1))
        more = {"lengths": torch.full((1,), REACH)} if self.takes_lengths else {}
        output, half = self._checked(example, x, more), REACH // 2
        later = self._checked(example, torch.cat([x[:, :half], x[:, half:] + 1.0], dim=1), more)
        earlier = self._checked(example, torch.cat([x[:, :half] + 1.0, x[:, half:]], dim=1), more)
        slack = ROUNDING if getattr(example, "causal", False) else 0.0
        return not _same(later[:, :half], output[:, :half], slack), not _same(earlier[:, half:], output[:, half:])

    def _checked(self, module: nn.Module, x: Tensor, more: Mapping[str, Tensor]) -> Tensor:
        try:
            # The same numbers every time for one who draws some, so that two runs can be compared.
            with torch.random.fork_rng(devices=[x.device] if x.device.type == "cuda" else []):
                torch.manual_seed(0)
                output = module(x, **more)
        except Exception as error:
            raise SeparatrixError(
                f"{self.name} failed on a trial input of batch {x.shape[0]}, length {x.shape[1]}, width {x.shape[2]}: "
                f"{type(error).__name__}: {error}; {self._remedy(module, x.shape[1])}"
            ) from error
        if not isinstance(output, Tensor):
            raise SeparatrixError(
                f"{self.name} returned {type(output).__name__} for an input of {tuple(x.shape)}; expected a tensor of "
                "the same shape (batch, length, width), such as the first of what a layer of attention returns"
            )
        if output.shape != x.shape:
            raise SeparatrixError(
                f"{self.name} returned {tuple(output.shape)} for an input of {tuple(x.shape)}; expected the same shape "
                "(batch, length, width)"
            )
        self._check_dtype(output, x)
        return output

    def _remedy(self, module: nn.Module, length: int) -> str:
        """Return what to change in a module that fails on the trial."""
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        needed = [
            each.name
            for each in inspect.signature(module.forward).parameters.values()
            if each.kind in kinds and each.default is inspect.Parameter.empty
        ]
        if len(needed) > 1:
            return (
                f"its forward needs {', '.join(needed)}, and is given one tensor (batch, length, width): wrap it in a "
                f"module whose forward(x) calls it with {', '.join(['x'] * len(needed))} and returns one tensor"
            )
        return (
            f"forward(x) must take every length, and is tried at length {length}: a module of one fixed length cuts "
            "its weights to x.shape[1]"
        )

    def _check_dtype(self, output: Tensor, x: Tensor) -> None:
        if output.dtype != x.dtype:
            raise SeparatrixError(
                f"{self.name} returned {output.dtype} for an input of {x.dtype}; expected the same, such as by "
                "output.to(x.dtype)"
            )

    def _choose_batching(self, example: nn.Module, x: Tensor, more: Mapping[str, Tensor]) -> tuple[str, str]:
        """Try vmap, forwards and backwards, on two members that differ."""
        weights = {
            name: torch.stack([value.detach(), value.detach() * 0.5 if value.is_floating_point() else value.detach()])
            for name, value in [*example.named_parameters(), *example.named_buffers()]
        }
        both = torch.stack([x, x.flip(0)])
        own = {name: torch.stack([value, value]) for name, value in more.items()}
        results: list[list[Tensor]] = []
        for run in (_run_by_vmap, _run_by_loop):
            leaves = {name: value.clone() for name, value in weights.items()}
            for name in self._parameters_of:
                leaves[name].requires_grad_(leaves[name].is_floating_point())
            given = both.clone().requires_grad_()
            try:
                output = run(example, leaves, given, own)
                wanted = [given, *[leaves[name] for name in self._parameters_of if leaves[name].requires_grad]]
                gradients = torch.autograd.grad(output.square().sum(), wanted, allow_unused=True)
            except Exception as error:
                if run is _run_by_loop:
                    raise SeparatrixError(f"{self.name} cannot be trained: {type(error).__name__}: {error}") from error
                return "loop", f"torch.func.vmap does not work: {type(error).__name__}: {' '.join(str(error).split())}"
            results.append([output.detach(), *[each for each in gradients if each is not None]])
        for batched, looped in zip(*results, strict=True):
            # What is not a number in both is the same in both; in one of them alone it leads to the loop.
            if not _agree(batched, looped):
                return "loop", "torch.func.vmap gives other numbers than single runs"
        return "vmap", "torch.func.vmap works"

    def remark(self) -> str:
        """Return whether members run one after the other, and why; and what the module does against what it should."""
        slow = self.batching == "loop" and self.members > 1
        said = [f"the members of {self.name} run one after the other: {self.batching_reason}"] * slow
        return "\n".join(said + self._surprises)

    def initialise(self, generators: Generators) -> None:
        """Each member by the module's own constructor, under a seed from the member's generator."""
        for member, generator in enumerate(generators):
            instance = self._instance(int(torch.randint(2**62, (), generator=generator)))
            with torch.no_grad():
                for name, value in [*instance.named_parameters(), *instance.named_buffers()]:
                    getattr(self, _attribute_name(name))[member].copy_(value)

    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """x (members, batch, length, width) to the same at the positions read."""
        more: dict[str, Tensor] = {}
        if self.takes_lengths:
            more["lengths"] = lengths if lengths is not None else torch.full_like(x[..., 0, 0], x.shape[2]).long()
        elif lengths is not None and not self.causal:
            inside = torch.arange(x.shape[2], device=x.device) < lengths.unsqueeze(-1)
            x = x * inside.unsqueeze(-1).to(x.dtype)
        weights = {name: getattr(self, _attribute_name(name)) for name in [*self._parameters_of, *self._buffers_of]}
        module = self._template[0].train(self.training)
        if self.batching == "vmap":
            output = _run_by_vmap(module, weights, x, more)
        else:
            output = _run_by_loop(module, weights, x, more, self._changing)
        if not torch.is_autocast_enabled(x.device.type):
            self._check_dtype(output, x)  # the trial was in float32
        return at_positions(output, read)


def _agree(one: Tensor, other: Tensor) -> bool:
    """Return whether two results are the same up to rounding, relative to the largest number; NaN and ±∞ at the same
    places.

    >>> broken = torch.tensor([1.0, float("nan")])
    >>> _agree(broken, broken), _agree(broken, torch.ones(2))
    (True, False)
    """
    finite = other.isfinite()
    if not bool(((one == other) | (one.isnan() & other.isnan()) | (one.isfinite() & finite)).all()):
        return False
    if not bool(finite.any()):
        return True
    first, second = one[finite], other[finite]
    return bool((first - second).abs().max() <= AGREEMENT * second.abs().max().clamp(min=1.0))


def _run_by_vmap(module: nn.Module, weights: Mapping[str, Tensor], x: Tensor, more: Mapping[str, Tensor]) -> Tensor:
    """Return all members as one program; everything has the members in front."""

    def single(own: dict[str, Tensor], x: Tensor, more: dict[str, Tensor]) -> Tensor:
        return functional_call(module, own, (x,), more)

    return vmap(single, randomness="different")(dict(weights), x, dict(more))


def _run_by_loop(
    module: nn.Module,
    weights: Mapping[str, Tensor],
    x: Tensor,
    more: Mapping[str, Tensor],
    changing: Collection[str] = (),
) -> Tensor:
    """Run one member after the other; what a call makes of the ``changing`` buffers is written back."""
    # Taken apart all at once: the gradient of one row alone would be a whole tensor of zeros around it.
    rows = {name: value.unbind() for name, value in weights.items()}
    others = {name: value.unbind() for name, value in more.items()}
    outputs: list[Tensor] = []
    for member, cells in enumerate(x.unbind()):
        # Copies of what changes: the gradient may need it as it was.
        own = {name: values[member].clone() if name in changing else values[member] for name, values in rows.items()}
        outputs.append(
            functional_call(module, own, (cells,), {name: values[member] for name, values in others.items()})
        )
        for name in changing:
            # ``functional_call`` has put there what was assigned anew.
            weights[name][member].copy_(own[name].detach())
    return torch.stack(outputs)


def _copies(named: Iterable[tuple[str, Tensor]]) -> dict[str, Tensor]:
    return {name: each.clone() for name, each in named}


def _same(one: Tensor, other: Tensor, slack: float = 0.0) -> bool:
    """Return whether two runs gave the same, up to a slack relative to the largest; kernels of a GPU may reorder
    sums."""
    slack = max(slack, AGREEMENT) if one.device.type == "cuda" else slack
    largest = float(other.abs().nan_to_num().max())
    return torch.allclose(one, other, rtol=0.0, atol=slack * largest, equal_nan=True)


def _attribute_name(parameter: str) -> str:
    """Return a name without dots, which torch reserves."""
    return "module/" + parameter.replace(".", "/")
