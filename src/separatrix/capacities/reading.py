"""From the name of a preset, an id at Hugging Face, or the path of a config file to a model description.

A file that is not a config ends in one line: a folder, a file of several megabytes, text that is not JSON, JSON that is
not an object, a missing or unknown model_type, missing fields, sizes that are not whole numbers above 0.
"""

import os
import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from separatrix.capacities.catalog import Preset, described, presets, unknown
from separatrix.capacities.layers import ModelDescription
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.reading import parse_json, read_file

CONFIG_FILE = "config.json"
LARGEST_FILE = 4 << 20
"""Bytes; a config file has a few thousand, with long label tables some hundred thousand."""


def describe(config: str | Path | Mapping[str, Any]) -> ModelDescription:
    """A model from the name of a preset, the path of a config file, or the fields of one.

    The name of a preset wins over a file of the same name; write ``./name`` for the file. Of a folder its config.json
    is read.

    >>> describe("lstm-3-256").state_numbers
    1536
    >>> describe({"model_type": "gru", "hidden_size": 64}).state_numbers
    64
    """
    if isinstance(config, Mapping):
        return described(config, "the config")
    path = Path(config)
    if config == "":
        raise SeparatrixError("no model was named; give the name of a preset or the path of a config.json")
    if isinstance(config, str):
        if config in presets():
            return presets()[config].describe()
        if path.suffix != ".json" and not _exists(path):
            if (found := by_id(config)) is not None:
                return found
            if "/" in config and _ID.fullmatch(config):
                nearest = UnknownNameError("preset", path.name, presets()).nearest
                near = f" (nearest: {', '.join(nearest)})" if nearest else ""
                raise SeparatrixError(
                    f"no config of {config} is at hand: it is not in Hugging Face's cache on this machine nor among "
                    f"the presets{near}; download its config.json and give the path"
                )
            # The last part of a path is what a preset is named after.
            text = unknown("preset", path.name[:80], presets())
            raise SeparatrixError(f"{text}; or give the path of a config.json")
    if _exists(path / CONFIG_FILE):  # the folder of a model
        path = path / CONFIG_FILE
    fields = read_config(path)
    return described(fields, str(path), source=f"file {path}")


def preset_named(config: str) -> Preset | None:
    """Return the preset that a name or an id at Hugging Face means; None where it means a file, or nothing.

    >>> [found and found.name for found in map(preset_named, ("mistralai/Mistral-7B-v0.1", "Mistral-7B-v0.1"))]
    ['mistral-7b-v0.1', 'mistral-7b-v0.1']
    """
    if config in presets():
        return presets()[config]
    if config_file(config) is not None or not _ID.fullmatch(config):
        return None
    known: dict[str, Preset] = {}
    for preset in presets().values():
        for each in _NAMED.findall(preset.source.lower()):
            known.update({each: preset, each.partition("/")[2]: preset})
    known.update({preset.name.lower(): preset for preset in presets().values()})
    return known.get(config.lower()) or known.get(config.rpartition("/")[2].lower())


def config_file(config: str) -> Path | None:
    """Return the config file that a path, a folder or an id at Hugging Face means; None where there is none."""
    path = Path(config)
    if _exists(path / CONFIG_FILE):
        return path / CONFIG_FILE
    if _exists(path):
        return path
    if not _ID.fullmatch(config):
        return None
    folder = f"models--{config.replace('/', '--')}"
    return next(iter(sorted(_hub().glob(f"{folder}/snapshots/*/{CONFIG_FILE}"))[-1:]), None)


def by_id(name: str) -> ModelDescription | None:
    """A model by its id at Hugging Face, without asking there: from the cache on this machine, or from the presets.

    >>> found = by_id("mistralai/Mistral-7B-v0.1")
    >>> found is not None and found.name
    'mistral-7b-v0.1'
    """
    if not _ID.fullmatch(name):
        return None
    if (found := config_file(name)) is not None:
        return described(read_config(found), name, source=f"file {found}")
    preset = preset_named(name)
    return preset.describe() if preset else None


_ID = re.compile(r"([A-Za-z0-9][\w.-]{0,95}/)?[A-Za-z0-9][\w.-]{0,95}")
_NAMED = re.compile(r"huggingface\.co/([\w.-]+/[\w.-]*\w)")


def _hub() -> Path:
    """Where the programs of Hugging Face keep what they loaded."""
    home = os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")


def read_config(path: Path) -> dict[str, Any]:
    """The fields of a config file.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    ...     _ = file.write('{"model_type": "gru", "hidden_size": 64}')
    ...     file.flush()
    ...     read_config(Path(file.name))
    {'model_type': 'gru', 'hidden_size': 64}
    """
    data = read_file(path, LARGEST_FILE, "give the name of a preset or the path of a config.json")
    try:
        # Some programs write a mark of byte order first, and some configs have infinite bounds.
        value: object = parse_json(data.removeprefix(BOM_UTF8), infinite=True)
    except ValueError as error:
        raise SeparatrixError(f"{path} is not JSON: {str(error)[:120]}; give a config.json") from None
    if not isinstance(value, dict):
        kind = {list: "a list", str: "a text", type(None): "null"}.get(cast("type[Any]", type(value)), "a number")
        raise SeparatrixError(f"{path} holds {kind}; a config.json holds one object with the fields of a model")
    return cast("dict[str, Any]", value)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
