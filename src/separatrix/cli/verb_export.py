"""``separatrix export``: a theorem's network for torch, ONNX, TransformerLens, or exactly as safetensors."""

from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.construction_options import (
    AttentionOption,
    ConstructionArgument,
    ExponentOption,
    FamilyOption,
    GainOption,
    LengthOption,
    MaxInnerOption,
    PrecisionOption,
    RoundingOption,
    SettingsOption,
    VariantOption,
    options_from,
    refuse_idle_options,
)
from separatrix.cli.output import JsonOption, console, notes, print_result, seconds_so_far
from separatrix.errors import SeparatrixError
from separatrix.extras import require
from separatrix.wording import counted

NAME = "export"
ORDER = 64
EXAMPLE = "separatrix export index-lookup --length 64 --to torch --out exports/index-lookup-64"
PACKAGES = {
    "torch": ("torch",),
    "onnx": ("torch", "onnx", "onnxscript"),
    "transformer-lens": ("torch", "transformer_lens"),
}
"""What each target needs beyond the core; safetensors needs nothing."""


def command(
    context: typer.Context,
    construction: ConstructionArgument,
    length: LengthOption,
    to: Annotated[str, typer.Option("--to", help="torch, safetensors (exact), onnx or transformer-lens.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="A folder for torch and transformer-lens, a file for the others.")
    ],
    dtype: Annotated[
        str | None, typer.Option("--dtype", help="float64 (default) or float32; safetensors holds exact numbers.")
    ] = None,
    precision: PrecisionOption = None,
    exponent: ExponentOption = None,
    rounding: RoundingOption = "down",
    variant: VariantOption = "repaired",
    gain: GainOption = None,
    attention: AttentionOption = None,
    family: FamilyOption = None,
    max_inner: MaxInnerOption = "1/4",
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a theorem's network for another tool, compared with the exact one on sampled inputs."""
    require(f"--to {to}", *PACKAGES.get(to, ()))
    from separatrix.constructions import constructions
    from separatrix.files import check_writable
    from separatrix.models import SEED, export

    chosen = constructions()[construction]
    if to == "safetensors" and dtype is not None:
        raise SeparatrixError(f"--dtype {dtype} does not go with --to safetensors, which holds the exact weights")
    options = options_from(
        chosen, length, precision=precision, exponent=exponent, rounding=rounding, variant=variant, gain=gain,
        attention=attention, family=family, max_inner=max_inner, settings=settings,
    )  # fmt: skip
    check_writable(out / "config.json" if out.is_dir() else out)
    with notes().status(f"building {construction} for length {length}") as status:
        built = chosen.build(length, options)
        refuse_idle_options(built.network, options)
        status.update(f"writing it for {to}")
        written = export(built, to, out, dtype or "float64")
    result: dict[str, Any] = {
        "construction": construction,
        "theorem": chosen.theorem,
        "task": built.task.name,
        "length": length,
        "variant": variant,
        "to": to,
        "dtype": "exact" if to == "safetensors" else dtype or "float64",
        "positions": built.network.positions,
        "width": built.network.width,
        "inputs_compared": written.inputs_compared,
        "files": [str(file) for file in written.files],
        "load": written.load,
        "seconds": seconds_so_far(context),
    }
    if as_json:
        seed = SEED if written.inputs_compared else None
        print_result(context, {**result}, arithmetic=str(built.arithmetic), seed=seed)
        return
    count = written.inputs_compared
    compared = f": answers equal on {counted(count, 'sampled input')}" if count else ""
    console().print(f"[bold]{construction}[/bold] for length {length}, {result['dtype']}{compared}", soft_wrap=True)
    for file in result["files"]:
        console().print(f"wrote {file}", soft_wrap=True, markup=False)
    console().print(f"open it with {written.load}", soft_wrap=True, markup=False)
