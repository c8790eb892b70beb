"""Models in the papers' short form: ``TF-(1,64)``, ``LSTM-(3,256)``, ``Mamba,Mamba,TF-(6,256)``.

The form is a pattern of architectures, then layers and width, then options:

    TF-(1,64,heads=4,positions=rotary)        a full name, transformer-(1,64), and any case do as well
    Mamba,Mamba,TF-(6,256)                    the pattern is repeated up to the number of layers
    package.module:MixerClass-(2,128)         a user's module, see ``user_mixer``
    fla:NAME-(2,128)                          a layer of flash-linear-attention, where that is installed
"""

import re
import sys

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import ModelSpec, Value

_FORM = re.compile(r"(?P<pattern>[^()]+?)-?\((?P<inside>[^()]*)\)")


def parse_spec(text: str) -> ModelSpec:
    """Return the specification with this text; ``str`` of it is the canonical form.

    >>> str(parse_spec("tf-(1, 64, heads=4)")), parse_spec("LSTM-(3,256)").layers
    ('TF-(1,64,heads=4)', ('lstm', 'lstm', 'lstm'))
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise SeparatrixError(f"{text!r} is not a model; write NAME-(layers,width), such as TF-(1,64) or LSTM-(3,256)")
    inside = [part.strip() for part in found["inside"].split(",")]
    sizes, settings = inside[:2], inside[2:]
    if len(sizes) < 2 or not all(size.isascii() and size.isdecimal() for size in sizes):
        raise SeparatrixError(
            f"({found['inside']}) in {text!r} must begin with the number of layers and the width, such as (1,64)"
        )
    depth, width = map(int, sizes)
    pattern = _names(found)
    if not all(pattern):
        raise SeparatrixError(f"the pattern of {text!r} has an empty place; write it such as Mamba,Mamba,TF-(6,256)")
    if not len(pattern) <= depth <= 1024:
        raise SeparatrixError(
            f"{text!r} has {depth} layers of a pattern of {len(pattern)}; choose {len(pattern)} to 1024 layers"
        )
    options: dict[str, Value] = {}
    for setting in settings:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not (name and equals and value):
            raise SeparatrixError(f"{setting!r} in {text!r} is not an option; write NAME=VALUE, such as heads=4")
        if name in options:
            raise SeparatrixError(f"option {name} is given twice in {text!r}; keep one")
        options[name] = parse_value(value)
    for name in pattern:
        if ":" in name:
            from separatrix.models.user_architecture import look_again

            look_again(name)
    layers = tuple(pattern[number % len(pattern)] for number in range(depth))
    return ModelSpec(layers, width, tuple(sorted(options.items())))


def model_name(module: type, layers: int, width: int, **options: Value) -> str:
    """Return the name of a model whose layers are a user's class, for Python: ``RunSpec(architecture=model_name(…))``.

    The class must be found again by its name: at the top level of a module, or of the script or notebook that runs.
    """
    where, name = getattr(module, "__module__", None), getattr(module, "__qualname__", None)
    if not isinstance(module, type) or not isinstance(where, str) or not isinstance(name, str):
        raise SeparatrixError(f"{module!r} is not a class; give the class itself, such as model_name(MyMixer, 2, 64)")
    if getattr(sys.modules.get(where), name, None) is not module:
        raise SeparatrixError(
            f"{where}.{name} cannot be found by its name; define the class at the top level of its module, not inside "
            "a function"
        )
    given = "".join(
        f",{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in options.items()
    )
    return str(parse_spec(f"{where}:{name}-({layers},{width}{given})"))


def code_named_in(text: str) -> tuple[str, ...]:
    """Return the code from outside that :func:`parse_spec` would import for this text; nothing is imported here.

    >>> code_named_in("LSTM,my_mixer.py:Decay-(2,16)"), code_named_in("fla:GatedLinearAttention-(1,64)")
    (('my_mixer.py:Decay',), ())
    """
    found = _FORM.fullmatch(text.strip())
    names = [] if found is None else _names(found)
    return tuple(name for name in dict.fromkeys(names) if ":" in name and name.rpartition(":")[0] != "fla")


def _names(form: re.Match[str]) -> list[str]:
    return [name.strip() for name in form["pattern"].split(",")]


def parse_value(text: str) -> Value:
    """Return a whole number, a number, true, false, or else the word itself.

    >>> [parse_value(text) for text in ("4", "0.5", "true", "rotary")]
    [4, 0.5, True, 'rotary']
    """
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
