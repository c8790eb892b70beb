"""A family of config files: which fields it needs, and the layers they describe.

What enters from a file is validated with pydantic, strictly: a size is a whole number above 0, never a text, a float
or a truth value. Fields that do not change the memory (dropout, activation, token ids) are not looked at. The class
of the schema is the list of what is read; its field names, and their other spellings, are those of the model's own
config file.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeAlias, TypeVar, cast

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from separatrix.communication.capacity.layers import LayerDescription, ModelDescription
from separatrix.errors import SeparatrixError
from separatrix.wording import counted

FORMAT_FIELDS = ("dtype", "torch_dtype")
"""Where a file names the format of its numbers; ``transformers`` takes the first where both are there."""
STATE_FIELDS = ("mamba_ssm_cache_dtype", "mamba_ssm_dtype")
"""Where a file asks for a format of its running states; ``transformers`` 5.22 follows neither, other programs do."""
LARGEST = 10**9
DEEPEST = 10**5

Size: TypeAlias = Annotated[int, Field(strict=True, gt=0, le=LARGEST)]
Depth: TypeAlias = Annotated[int, Field(strict=True, gt=0, le=DEEPEST)]
Factor: TypeAlias = Annotated[float, Field(gt=0, le=LARGEST, allow_inf_nan=False)]
Flag: TypeAlias = Annotated[bool, Field(strict=True)]


def spelled(*names: str) -> AliasChoices:
    """The spellings of one field, the usual one first: that one wins when a file has several."""
    return AliasChoices(*names)


def stated_format(raw: Mapping[str, Any]) -> str:
    """The format of the numbers as a file names it: ``dtype``, or ``torch_dtype`` where that is missing or null.

    >>> stated_format({"torch_dtype": None, "dtype": "float32"}), stated_format({"torch_dtype": "bfloat16"})
    ('float32', 'bfloat16')
    """
    return next((raw[name] for name in FORMAT_FIELDS if isinstance(raw.get(name), str) and raw[name]), "")


def decoder_fields(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of the decoder of a file that holds them in ``text_config``; the format often stands outside.

    >>> decoder_fields({"dtype": "float32", "text_config": {"hidden_size": 8, "dtype": None}})
    {'hidden_size': 8, 'dtype': 'float32'}
    """
    inner: object = raw.get("text_config")
    if not isinstance(inner, Mapping):
        return raw
    found = cast("Mapping[str, Any]", inner)
    return {**found, FORMAT_FIELDS[0]: stated_format(found) or stated_format(raw)}


def _size_or_none(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LARGEST else None


def _format_name(value: object) -> str:
    return value.removeprefix("torch.")[:40] if isinstance(value, str) else ""


FormatName: TypeAlias = Annotated[str, BeforeValidator(_format_name)]
"""The name of a format of numbers; what is not a name is no format."""


class Config(BaseModel):
    """The fields of a config file that decide the memory of the model; all others are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, protected_namespaces=())

    model_type: Annotated[str, BeforeValidator(lambda value: "" if value is None else value)] = ""
    # Only shown, so a file is not refused for it: some write -1 or 1e30 for "no limit".
    trained_length: Annotated[int | None, BeforeValidator(_size_or_none)] = Field(
        default=None, validation_alias=spelled("max_position_embeddings", "n_positions", "n_ctx", "context_length")
    )
    # A format that is not known is reported where bits are counted.
    number_format: FormatName = Field(default="", validation_alias=FORMAT_FIELDS[0])
    # Read to say that it is not followed: transformers keeps running states in float32 whatever they say.
    asked_state_format: FormatName = Field(default="", validation_alias=spelled(*STATE_FIELDS))

    @model_validator(mode="before")
    @classmethod
    def _with_format(cls, raw: dict[str, Any]) -> dict[str, Any]:
        return {**raw, FORMAT_FIELDS[0]: stated_format(raw)}


Schema = TypeVar("Schema", bound=Config)
Entry = TypeVar("Entry", str, int)


@dataclass(frozen=True, kw_only=True)
class Family(Generic[Schema]):
    """One kind of config file.

    ``model_types`` are the values of the field ``model_type`` that belong to it. ``recognises`` says whether a file
    without that field is of this family. ``state`` is the formula of the state in words, ``source`` where it is from.
    ``fields`` are the fields of the model in a file that holds them further in. ``state_format`` is the format of the
    running states where a config names it in a field that the model's code follows.
    """

    name: str
    title: str
    model_types: tuple[str, ...]
    schema: type[Schema]
    layers: Callable[[Schema], tuple[LayerDescription, ...]]
    state: str
    source: str
    passes: Callable[[Schema], int] = lambda config: 1
    state_format: Callable[[Schema], str] = lambda config: ""
    notes: Callable[[Schema], tuple[str, ...]] = lambda config: ()
    recognises: Callable[[Mapping[str, Any]], bool] = lambda raw: False
    fields: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda raw: raw

    def describe(self, raw: Mapping[str, Any], name: str, source: str = "") -> ModelDescription:
        """The model that a config describes; raises :class:`SeparatrixError` naming every field that is wrong."""
        try:
            config = self.schema.model_validate(dict(self.fields(raw)))
        except ValidationError as error:
            kind = raw.get("model_type") or self.name
            raise SeparatrixError(f"{name} is no complete {kind} config: {reasons(error)}") from None
        try:
            layers = self.layers(config)
        except SeparatrixError as error:  # sizes that do not fit together: say whose they are
            raise SeparatrixError(f"{name}: {error}") from None
        return ModelDescription(
            name=name,
            family=self.name,
            layers=layers,
            passes=self.passes(config),
            trained_length=config.trained_length,
            number_format=config.number_format,
            state_format=self.state_format(config),
            source=source,
            notes=(*self.notes(config), *_not_followed(config, layers)),
        )


def _not_followed(config: Config, layers: Sequence[LayerDescription]) -> tuple[str, ...]:
    """That a file asks for a format of running states that is not the one that is counted."""
    asked = config.asked_state_format
    if asked in ("", "auto", "float32") or not any(part.running for layer in layers for part in layer.state):
        return ()
    return (
        f"its config asks for states in {asked} ({' or '.join(STATE_FIELDS)}); transformers 5.22 keeps float32 all the "
        "same, which is counted. Where a program follows the config, give --precision.",
    )


def reasons(error: ValidationError) -> str:
    """Everything that is wrong with a config, in one line: first what is missing, then what is not a size."""
    missing: list[str] = []
    wrong: list[str] = []
    for each in error.errors(include_url=False, include_context=False):
        where = ".".join(map(str, each["loc"]))
        if each["type"] == "missing":
            missing.append(where)
        else:
            given = repr(each["input"])
            shown = given if len(given) <= 40 else f"{given[:37]}..."
            text = each["msg"][:1].lower() + each["msg"][1:]
            wrong.append(f"{where} is {shown}: {text}" if where else text)
    parts = [f"missing {', '.join(missing)}"] if missing else []
    return "; ".join(parts + wrong)


def whole(what: str, value: float) -> int:
    """A product that must come out whole, such as expand × hidden_size.

    >>> whole("expand × hidden_size", 1.5 * 512)
    768
    """
    if value != int(value) or value < 1:
        raise SeparatrixError(f"{what} is {value}; it must be a whole number from 1")
    return int(value)


def share(what: str, total: int, parts: int) -> int:
    """``total / parts``, which must come out whole, such as hidden_size / num_attention_heads.

    >>> share("hidden_size / num_attention_heads", 768, 12)
    64
    """
    if total % parts:
        raise SeparatrixError(f"{what} is {total}/{parts}, which is not whole; correct one of them")
    return total // parts


def listed_layers(what: str, listed: Sequence[Entry], depth: int) -> Sequence[Entry]:
    """A list with one entry for each layer, or none at all; any other is refused.

    >>> listed_layers("layer_types", ["mamba", "attention"], 2)
    ['mamba', 'attention']
    """
    if listed and len(listed) != depth:
        raise SeparatrixError(f"{what} lists {counted(len(listed), 'layer')} but num_hidden_layers is {depth}")
    return listed
