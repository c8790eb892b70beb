"""What fits together for the verbs that compute: tasks, codes, constructions, certificates, protocols, bounds.

Where a catalog knows what it accepts (a task its lengths, a construction its variants), it is asked; where several
options meet, what was drawn is tried, and an option that is refused next to the others is left out.
"""

import functools
from collections.abc import Sequence
from typing import Any, get_args

from hypothesis import strategies
from hypothesis.strategies import DrawFn
from tools.calls.fitting_parts import (
    LOOKUP,
    PICTURES,
    SIZES,
    WORDS,
    Drawing,
    Given,
    Place,
    add,
    chosen,
    is_accepted,
    length_from,
    likely,
    settings_of,
    small_model,
    task_with_length,
)

from separatrix.arithmetic import FixedPoint
from separatrix.arithmetic.codes import families, sign_code
from separatrix.bounds.covered import NUMBERS
from separatrix.bounds.simulations import Model
from separatrix.capacities.catalog import presets
from separatrix.cli.construction_options import options_from
from separatrix.cli.protocol_subject import input_of, subject_named
from separatrix.cli.verb_list import CATALOGS
from separatrix.communication.partition import parse_partition
from separatrix.communication.protocols import VERSIONS, run_one_layer, run_recurrent
from separatrix.constructions.catalog import constructions
from separatrix.constructions.construction import Construction
from separatrix.models.bounded import bounded_as
from separatrix.models.export import FOLDERS, TARGETS
from separatrix.models.from_network import DTYPES
from separatrix.models.naming import parse_spec
from separatrix.networks import RecurrentNetwork
from separatrix.networks.weights import SCORINGS
from separatrix.tasks.catalog import tasks
from separatrix.text_numbers import parse_fraction


def _list(draw: DrawFn, place: Place) -> Given:
    return {"catalog": (chosen(draw, CATALOGS),)} if likely(draw, 3) else {}


def _sample(draw: DrawFn, place: Place) -> Given:
    given, _, _ = task_with_length(draw, place.own)
    add(draw, given, count=("1", "3", "16"), seed=("0", "1", "12345"), split=("train", "eval"))
    return given


def _code(draw: DrawFn, place: Place) -> Given:
    count = draw(strategies.integers(2, 64))
    given: Given = {"count": (str(count),)}
    add(draw, given, max_inner=("1/4", "1/2", "1/3", "0.1"))
    if likely(draw, 1):
        given["two_sided"] = ("--two-sided",)
    if likely(draw, 1):
        name = chosen(draw, families())
        inner = parse_fraction("--max-inner", given.get("max_inner", ("1/4",))[0])
        if is_accepted(sign_code, count, inner, "two_sided" in given, name):
            given["family"] = (name,)
    return given


def _precision(draw: DrawFn, place: Place) -> Given:
    given, _, length = task_with_length(draw, place.own, least=2, settings=None)
    if likely(draw, 2):
        least = FixedPoint(length, 1).precision_bits
        given["bits"] = (str(draw(strategies.integers(least, 3 * least))),)
    else:
        given["exponent"] = (chosen(draw, ("1", "2", "3", "5")),)
    add(draw, given, rounding=("down", "nearest"))
    return given


def _built(draw: DrawFn, place: Place, names: Sequence[str], parameters: Sequence[str]) -> tuple[Given, int]:
    """A construction with a length and those of its options that it accepts together."""
    own = [name for name in place.own if name in constructions()]
    name = chosen(draw, own or names)
    construction = constructions()[name]
    task = tasks()[construction.task_name]
    length = length_from(draw, max(construction.minimum_length, task.minimum_length), task.length_step)
    while not is_accepted(_build, construction, length, {}):  # a construction may want more than its task does
        length += task.length_step
    given: Given = {"construction": (name,), "length": (str(length),)}
    offered: dict[str, Sequence[str]] = {
        "precision": ("16", "24", "40"),
        "exponent": ("1", "2", "3"),
        "rounding": ("down", "nearest"),
        "variant": construction.variants,
        "gain": ("4", "1/2", "64", "1e3"),
        "attention": SCORINGS,
        "family": (*families(), "circle"),
        "max_inner": ("1/4", "1/2", "1/8"),
    }
    for parameter in parameters:
        if parameter == "settings":
            more = {"settings": settings_of(draw, task)}
        elif likely(draw, 1):
            more = {parameter: (chosen(draw, offered[parameter]),)}
        else:
            continue
        if is_accepted(_build, construction, length, {**given, **more}):
            given |= {name: values for name, values in more.items() if values}
    return given, length


def _build(construction: Construction, length: int, given: Given) -> Any:
    words: dict[str, Any] = {name: values[0] for name, values in given.items() if name in BUILDING}
    for name in ("precision", "exponent"):
        if name in words:
            words[name] = int(words[name])
    if "settings" in given:
        words["settings"] = list(given["settings"])
    return construction.build(length, options_from(construction, length, **words))


BUILDING = ("precision", "exponent", "rounding", "variant", "gain", "attention", "family", "max_inner", "settings")


def _certify(draw: DrawFn, place: Place) -> Given:
    if likely(draw, 1):
        return _certify_trained(draw)
    given, length = _built(draw, place, tuple(constructions()), BUILDING)
    if not {"precision", "exponent"} & set(given):
        add(draw, given, arithmetic=("balls", f"fixed:N={max(2, length)},Kc=2,down"))
    add(draw, given, max_memory=SIZES, out=("new", "new/deeper", "good", "folder"))
    return given


def _certify_trained(draw: DrawFn) -> Given:
    given: Given = {"construction": (chosen(draw, ("trained", LOOKUP.name, WORDS.name)),)}
    if given["construction"] != ("trained",):
        given["store"] = ("trained.sqlite",)
    if given["construction"] == (WORDS.name,):
        given["bits"] = (chosen(draw, ("1", "3")),)
        add(draw, given, out=("new", "new/deeper"))
        return given
    add(draw, given, length=("1", "2"), nodes=("1", "64"), out=("new", "new/deeper", "trained"))
    return given


def _attack(draw: DrawFn, place: Place) -> Given:
    given: Given = {"run": (LOOKUP.name,), "store": ("trained.sqlite",), "seconds": (chosen(draw, ("0.01", "0.1")),)}
    add(draw, given, length=("1", "2"), most=("1", "8"), seed=("0", "7"))
    return given


def _export(draw: DrawFn, place: Place) -> Given:
    given, _ = _built(draw, place, tuple(constructions()), BUILDING)
    to = chosen(draw, [each for each in TARGETS if each != "transformer-lens" or "attention" not in given])
    given |= {"to": (to,), "out": (chosen(draw, ("new", "new/deeper", "folder") if to in FOLDERS else ("new.file",)),)}
    if to != "safetensors":
        add(draw, given, dtype=tuple(DTYPES))
    return given


def _check(draw: DrawFn, place: Place) -> Given:
    file = chosen(draw, ("good", "good/certificate.json", "refuted", "refuted/refuted.json", "trained"))
    given: Given = {"file": (file,)}
    if file != "trained":
        add(draw, given, max_memory=SIZES)
    if likely(draw, 1):
        given["replay"] = ("--replay",)
    return given


@functools.cache
def _with_protocol(name: str) -> bool:
    """Whether the network of a construction has a protocol."""
    construction = constructions()[name]
    step = tasks()[construction.task_name].length_step
    return is_accepted(_converse, name, -(-max(4, construction.minimum_length) // step) * step, {})


def _converse(name: str, length: int, given: Given) -> Any:
    words: dict[str, Any] = {parameter: values[0] for parameter, values in given.items()}
    exponent, position = words.get("exponent"), words.get("position")
    subject = subject_named(
        name, length, None if exponent is None else int(exponent), words.get("rounding", "down"),
        words.get("arithmetic"), words.get("attention"), list(given.get("settings", ())),
    )  # fmt: skip
    recurrent = isinstance(subject.network, RecurrentNetwork)
    split = parse_partition(words.get("partition", "halves" if recurrent else "odd-even"), subject.network.positions)
    cells, asked = input_of(subject, words.get("text"), int(words.get("seed", 0)))
    if isinstance(subject.network, RecurrentNetwork):
        run_recurrent(subject.network, cells, subject.arithmetic, split)
    else:
        run_one_layer(
            subject.network, cells, subject.arithmetic, split, version=words.get("version", "repaired"),
            products=words.get("products", "rounded"), position=asked if position is None else int(position),
        )  # fmt: skip
    return subject, cells


def _protocol(draw: DrawFn, place: Place) -> Given:
    if likely(draw, 1):
        given: Given = {"network": (chosen(draw, ("good", "good/network.safetensors")),)}
        add(draw, given, seed=("0", "7"), version=tuple(VERSIONS), products=("rounded", "exact"), position=("0", "8"))
        return given
    own = [name for name in place.own if name in constructions()]
    name = chosen(draw, own or [name for name in constructions() if _with_protocol(name)])
    task = tasks()[constructions()[name].task_name]
    least = max(2, constructions()[name].minimum_length, task.minimum_length)
    length = length_from(draw, least, task.length_step)
    if not is_accepted(_converse, name, length, {}):  # of another depth at this length
        name, task = "index-lookup", tasks()["index-lookup"]
    given = {}
    subject, cells = _converse(name, length, {})
    last = subject.network.positions - 1
    offered: dict[str, Sequence[str]] = {
        "exponent": ("1", "2", "3"),
        "rounding": ("down", "nearest"),
        "attention": SCORINGS,
        "arithmetic": (f"fixed:N={length},Kc=2,down", "float32", "float64", "bfloat16"),
        "partition": ("odd-even", "halves", f"cut:{last // 2}", "cut:0", f"0,{last}"),
        "seed": ("0", "1", "12345"),
        "text": (subject.task.write(cells.tolist(), length),) if not subject.task.features(length) else (),
    }
    if not isinstance(subject.network, RecurrentNetwork):
        places = ("0", str(last)) if subject.network.readout.at == "every" else (str(last),)
        offered |= {"version": tuple(VERSIONS), "products": ("rounded", "exact"), "position": places}
    for parameter, values in {**offered, "settings": settings_of(draw, task)}.items():
        if not values or not (parameter == "settings" or likely(draw, 1)):
            continue
        more = {parameter: tuple(values) if parameter == "settings" else (chosen(draw, values),)}
        if is_accepted(_converse, name, length, {**given, **more}):
            given |= more
    return {"network": (name,), "length": (str(length),), **given}


def _arithmetic(draw: DrawFn, given: Given) -> None:
    """An arithmetic; floats say themselves how many bits a number has."""
    add(draw, given, arithmetic=("fixed", "exact") if "precision" in given else tuple(NUMBERS))


def _bound(draw: DrawFn, place: Place) -> Given:
    given, _, length = task_with_length(draw, place.own)
    model = chosen(draw, get_args(Model)) if likely(draw, 2) else small_model(draw)
    if "(" in model and bounded_as(parse_spec(model), length, 32) is None:
        model = "rnn"
    given["model"] = (model,)
    add(draw, given, precision=("1", "8", "32"), limit=("1", "2", "4"))
    _arithmetic(draw, given)
    if "(" not in model:
        add(draw, given, heads=("1", "4"), layers=("1", "3"))
    return given


def _capacity(draw: DrawFn, place: Place) -> Given:
    if not likely(draw, 5, 6):
        return {}
    if likely(draw, 1):
        several: Given = {"config": ("gpt2", chosen(draw, presets()))}
        add(draw, several, precision=("8", "32"), length=("5", "100000"), plot=PICTURES)
        return several
    config = draw(strategies.sampled_from((chosen(draw, presets()), small_model(draw), "config.json")))
    given: Given = {"config": (config,)}
    add(draw, given, precision=("8", "16", "32"), length=("5", "100", "100000"), alphabet=("2", "64", "50000"))
    add(draw, given, task=tuple(tasks()), against=("gpt2", "mamba-130m"), cache_bits=("2", "4", "8"))
    if likely(draw, 1):
        add(draw, given, cache_tokens=("1", "4096"))
    else:
        add(draw, given, cache_window=("2", "4096"))
    if likely(draw, 1):
        given["memory"] = ("80GB",)
        add(draw, given, weights=("1G", "16GB"))
    _arithmetic(draw, given)
    return given


def _design(draw: DrawFn, place: Place) -> Given:
    given, _, _ = task_with_length(draw, place.own)
    add(draw, given, precision=("1", "16", "32"), heads=("1", "4"), accuracy=("exact",), plot=PICTURES)
    if likely(draw, 1):
        given["certify"] = ("--certify",)
    return given


def _profile(draw: DrawFn, place: Place) -> Given:
    function = chosen(draw, ("majority", "parity", "constant", "first", "labels", "words"))
    given: Given = {"target": (f"functions.py:{function}",)}
    length = draw(strategies.integers(1, 7))
    given["length"] = (str(length),)
    add(draw, given, alphabet=("2", "3", "01", "ab", "N"), precision=("1", "8", "32"), seed=("0", "5"))
    add(draw, given, max_memory=SIZES, max_time=("10", "60"), plot=PICTURES, model=("gpt2", "LSTM-(1,8)", "mamba-130m"))
    if likely(draw, 1):
        parts = ("odd-even", "halves", f"cut:{length // 2}", f"0,{length - 1}" if length > 1 else "0")
        given["partition"] = tuple(draw(strategies.lists(strategies.sampled_from(parts), min_size=1, max_size=2)))
    return given


COMPUTING: dict[str, Drawing] = {
    "list": _list, "sample": _sample, "code": _code, "precision": _precision, "certify": _certify, "attack": _attack,
    "export": _export, "check": _check, "protocol": _protocol, "bound": _bound, "capacity": _capacity,
    "profile": _profile, "design": _design,
}  # fmt: skip
