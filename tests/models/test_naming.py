"""Names of models: what they mean, that they come back, and what is said about wrong ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.models.architecture import ModelSpec, Option, architecture_named, architectures
from separatrix.models.naming import parse_spec


@pytest.mark.parametrize(
    ("text", "layers", "width", "options"),
    [
        ("TF-(1,64)", ("transformer",), 64, {}),
        ("LSTM-(3,256)", ("lstm",) * 3, 256, {}),
        ("Mamba-(6,256)", ("mamba",) * 6, 256, {}),
        ("lstm-(2, 64)", ("lstm",) * 2, 64, {}),
        ("transformer-(1,64)", ("transformer",), 64, {}),
        ("TF(1,64)", ("transformer",), 64, {}),
        ("TF-(1,64,heads=4,positions=rotary)", ("transformer",), 64, {"heads": 4, "positions": "rotary"}),
        ("TF-(1,64,heads=1,positions=learned)", ("transformer",), 64, {}),
        ("Mamba,Mamba,TF-(6,256)", ("mamba", "mamba", "transformer") * 2, 256, {}),
        ("LSTM,TF-(3,16,heads=2)", ("lstm", "transformer", "lstm"), 16, {"heads": 2}),
    ],
)
def test_what_a_name_means(text, layers, width, options):
    spec = parse_spec(text)
    assert (spec.layers, spec.width, dict(spec.options)) == (layers, width, options)
    assert parse_spec(str(spec)) == spec


def test_the_canonical_form_is_the_papers():
    texts = ["TF-(1,64)", "LSTM-(3,256)", "Mamba-(6,256)", "LinTF-(6,256)", "RetNet-(6,256)", "DSS-(6,256)"]
    assert [str(parse_spec(text.lower())) for text in texts] == texts
    assert str(parse_spec("lstm,lstm-(4,8)")) == "LSTM-(4,8)"


@given(st.data())
def test_every_specification_comes_back(data):
    names = data.draw(st.lists(st.sampled_from(sorted(architectures())), min_size=1, max_size=4))
    options = {}
    for name in names:
        for option in architectures()[name].options:
            if option.choices and data.draw(st.booleans()):
                options[option.name] = data.draw(st.sampled_from(option.choices))
    try:
        spec = ModelSpec(tuple(names), 64, tuple(sorted(options.items())))
    except SeparatrixError:
        # Two architectures may offer different values of one option, and options may not fit together.
        return
    assert parse_spec(str(spec)) == spec
    assert hash(parse_spec(str(spec))) == hash(spec)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("TF", "write NAME-(layers,width)"),
        ("TF-(1)", "must begin with the number of layers and the width"),
        ("TF-(1,x)", "must begin with the number of layers and the width"),
        ("TF-(0,64)", "has 0 layers"),
        ("TF-(99999999,64)", "has 99999999 layers"),
        ("TF-(1,0)", "width 0 is out of range"),
        ("Mamba,TF-(1,64)", "has 1 layers of a pattern of 2"),
        ("Mamba,,TF-(3,64)", "has an empty place"),
        ("TF-(1,64,heads)", "write NAME=VALUE"),
        ("TF-(1,64,heads=2,heads=4)", "is given twice"),
        ("TF-(1,64,heads=3)", "heads=3 does not divide width 64 of TF; choose 1, 2, 4, 8, 16, 32, 64"),
        ("TF-(1,64,heads=0)", "out of range"),
        ("TF-(1,64,heads=2.5)", "is not a whole number"),
        ("TF-(1,10,heads=2,positions=rotary)", "a head of TF has 5"),
        (
            "GDN-(1,18)",
            "does not fit GDN, whose keys are 3/4 as wide; make the width a multiple of 16",
        ),
        ("GLA-(1,20,heads=4)", "heads=4 does not divide half the width, 10 of GLA; choose 1, 2, 5, 10"),
        ("RetNet-(1,20,heads=4)", "RetNet turns pairs of numbers, but a head has 5"),
        ("Mamba2-(1,50,head=64)", "head=64 does not divide the inner width 100 of Mamba2"),
        ("LSTM-(1,64,heads=2)", "unknown option of LSTM 'heads'"),
        ("TF-(1,64,positions=rotari)", "nearest: rotary"),
        ("TF-(1,64,head=2)", "nearest: heads"),
        ("Transfomer-(1,64)", "nearest: transformer"),
        ("LSMT-(1,64)", "nearest: LSTM"),
    ],
)
def test_bad_names_are_explained_in_one_line(text, words):
    with pytest.raises(SeparatrixError) as caught:
        parse_spec(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_options_of_every_type_are_checked():
    """Also of types that no architecture of ours has."""
    number, size = Option("rate", 0.5, "a rate", minimum=0.0, maximum=1.0), Option("size", 2, "a size", choices=(2, 4))
    assert number.checked(1, "X") == 1.0 and type(number.checked(1, "X")) is float
    assert size.checked(4, "X") == 4 and Option("on", True, "a switch").checked(False, "X") is False
    for option, value, words in (
        (number, True, "option rate=True of X is not a number; its default is 0.5"),
        (number, 1.5, "option rate=1.5 of X is out of range; at least 0 and at most 1"),
        (size, 3, "option size=3 of X is not offered; choose 2, 4"),
    ):
        with pytest.raises(SeparatrixError) as caught:
            option.checked(value, "X")
        assert str(caught.value) == words
    with pytest.raises(SeparatrixError, match="a model of 0 layers is out of range"):
        ModelSpec((), 64)


def test_an_unknown_architecture_names_the_nearest():
    with pytest.raises(UnknownNameError) as caught:
        architecture_named("RetNt")
    assert "RetNet" in caught.value.nearest
