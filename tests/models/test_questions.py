"""Many questions to one text: one program gives what as many separate passes over the same text give."""

import pytest
import torch

from separatrix.models.naming import parse_spec
from separatrix.models.sequence_model import build_model

MEMBERS, BATCH, LENGTH, COUNT, SYMBOLS = 2, 3, 9, 4, 6
MODELS = [
    "TF-(1,16)", "TF-(2,16,heads=4)", "TF-(2,16,positions=rotary)", "TF-(2,16,positions=sinusoidal)",
    "TF-(2,16,mask=none)", "HardTF-(2,16)", "LSTM-(2,8)", "GRU-(2,8)", "RNN-(2,8)", "LinTF-(2,16)",
    "LinTF-(2,16,positions=learned)", "RetNet-(2,16)", "DSS-(2,16)", "Mamba-(2,16)", "Mamba2-(1,64)", "GLA-(1,16)",
    "CNN-(2,16)", "Mamba,TF-(2,16)", "LSTM-(1,8)", "Mamba-(1,16)", "LinTF-(1,16)", "RetNet-(1,16)", "DSS-(1,16)",
]  # fmt: skip


def asked(name: str, dtype: torch.dtype = torch.float64):
    generator = torch.Generator().manual_seed(1)
    model = build_model(
        parse_spec(name), vocabulary=SYMBOLS, classes=5, length=LENGTH, seeds=range(MEMBERS), dtype=dtype
    )
    with torch.no_grad():
        for parameter in model.parameters():  # far from the start, where much is 0 or 1
            parameter.add_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64).to(dtype) * 0.2)
    inputs = torch.randint(SYMBOLS, (MEMBERS, BATCH, LENGTH), generator=generator)
    at = torch.tensor([[8], [5], [1]]).expand(MEMBERS, BATCH, 1)
    questions = torch.randint(SYMBOLS, (MEMBERS, BATCH, COUNT), generator=generator)
    return model, inputs, at, at.squeeze(-1) + 1, questions


def one_by_one(model, inputs, at, lengths, questions):
    """The oracle: a pass over the whole text for every question."""
    found = []
    for number in range(questions.shape[2]):
        own = inputs.scatter(2, at, questions[:, :, number : number + 1])
        found.append(model(own, read=at, lengths=lengths))
    return torch.cat(found, dim=2)


@pytest.mark.parametrize("name", MODELS)
def test_many_questions_equal_separate_passes(name):
    model, inputs, at, lengths, questions = asked(name)
    expected = one_by_one(model, inputs, at, lengths, questions)
    found = model(inputs, read=at, lengths=lengths, questions=questions)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
    outer = torch.randn(found.shape, generator=torch.Generator().manual_seed(2), dtype=found.dtype)
    wanted = torch.autograd.grad((expected * outer).sum(), list(model.parameters()), allow_unused=True)
    given = torch.autograd.grad((found * outer).sum(), list(model.parameters()), allow_unused=True)
    for (full, _), ours, theirs in zip(model.named_parameters(), given, wanted, strict=True):
        ours, theirs = (torch.zeros(()) if each is None else each for each in (ours, theirs))
        torch.testing.assert_close(ours, theirs, rtol=1e-7, atol=1e-9, msg=lambda text, full=full: f"{full}: {text}")


def test_what_lies_behind_the_questions_is_not_seen():
    model, inputs, at, lengths, questions = asked("TF,LSTM,Mamba,DSS,RetNet,LinTF-(6,16)")
    behind = torch.arange(LENGTH) >= at
    other = torch.where(behind, (inputs + 1) % SYMBOLS, inputs)
    found = [model(each, read=at, lengths=lengths, questions=questions) for each in (inputs, other)]
    torch.testing.assert_close(*found, rtol=0, atol=1e-12)


def test_the_fast_form_is_that_of_the_papers_models():
    """The architectures of the figures read a text once for all its questions; others may read it again for each."""
    once = {"dss", "gru", "hard-attention", "linear-transformer", "lstm", "mamba", "retnet", "rnn", "transformer"}
    from separatrix.models.architecture import Place, architectures

    for name in once:
        entry = architectures()[name]
        assert entry.mixer(16, entry.filled({}), 1, Place(0, 1, 8)).branches, name
