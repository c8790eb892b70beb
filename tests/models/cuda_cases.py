"""Every architecture on a GPU against itself on the CPU; run by ``test_cuda``, or where there is no pytest by

python -m tests.models.cuda_cases
"""

import sys
from collections.abc import Iterator

import torch

from separatrix.models.architecture import ModelSpec
from tests.models.architecture_cases import gradients, inputs_of, model_of, specs
from tests.models.kernel_cases import Case, run_all


def on_both(spec: ModelSpec, reads: int | None) -> None:
    """Outputs and gradients in float64."""
    members, batch, length = 2, 3, 37
    inputs = inputs_of(spec, members, batch, length)
    read = None if reads is None else torch.full((members, batch, reads), length - 2)
    lengths = torch.tensor([[37, 36, 37], [36, 37, 37]])
    found = []
    for device in ("cpu", "cuda"):
        model = model_of(spec, length, seeds=(1, 2)).to(device)
        outputs = model(inputs.to(device), read=None if read is None else read.to(device), lengths=lengths.to(device))
        assert outputs.device.type == device
        # Behind the end of an input anything may be.
        valid = torch.arange(length) < lengths[..., None]
        kept = outputs.cpu() if read is not None else torch.where(valid[..., None], outputs.cpu(), 0.0)
        found.append((kept.detach(), {name: each.cpu() for name, each in gradients(model, kept).items()}))
    torch.testing.assert_close(found[0][0], found[1][0], rtol=1e-7, atol=1e-9)
    for name, gradient in found[0][1].items():
        torch.testing.assert_close(gradient, found[1][1][name], rtol=1e-6, atol=1e-8, msg=name)


def lstm_captured() -> None:
    """Nothing in a forward and backward pass of the LSTM waits for the device."""
    spec = next(spec for spec in specs() if str(spec).startswith("LSTM-"))
    model = model_of(spec, 9, seeds=(1, 2), dtype=torch.float32).to("cuda")
    inputs = inputs_of(spec, 2, 4, 9).to("cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            model.zero_grad(set_to_none=True)
            model(inputs).square().sum().backward()
    torch.cuda.synchronize()
    eager = [parameter.grad.clone() for parameter in model.parameters()]
    graph = torch.cuda.CUDAGraph()
    model.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        model(inputs).square().sum().backward()
    graph.replay()
    torch.cuda.synchronize()
    for before, parameter in zip(eager, model.parameters(), strict=True):
        torch.testing.assert_close(before, parameter.grad)


def cases() -> Iterator[Case]:
    """Every architecture, all positions and one."""
    for spec in specs():
        for reads in (None, 1):
            where = "all positions" if reads is None else "one position"
            yield Case(f"{spec} {where}", lambda spec=spec, reads=reads: on_both(spec, reads))
    yield Case("LSTM captured", lstm_captured)


if __name__ == "__main__":
    sys.exit(run_all(cases(), sys.argv[1:]))
