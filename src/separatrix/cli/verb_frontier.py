"""``separatrix frontier``: the smallest certified width and precision of a construction at each length."""

from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.construction_options import ConstructionArgument
from separatrix.cli.learned_frontier import (
    GoalOption,
    LearnedOption,
    LengthsOption,
    RatesOption,
    StepsOption,
    WidthsOption,
    learned_frontier,
    refuse_other_options,
)
from separatrix.cli.limits import MaxMemoryOption, limited_memory, memory_limit
from separatrix.cli.output import JsonOption, print_answer, remark
from separatrix.cli.pictures import check_picture, write_picture
from separatrix.cli.training_options import ANYWHERE, Place, with_option_groups
from separatrix.errors import SeparatrixError, StoppedError

NAME = "frontier"
ORDER = 62
EXAMPLE = "separatrix frontier index-lookup --from 4 --to 10"


@with_option_groups
def command(
    context: typer.Context,
    construction: ConstructionArgument,
    first: Annotated[int, typer.Option("--from", help="Smallest exponent: 4 is N = 2^4 = 16.")] = 4,
    last: Annotated[int, typer.Option("--to", help="Largest exponent: 8 is N = 2^8 = 256.")] = 8,
    figure: Annotated[Path | None, typer.Option("--figure", help="Also draw it, to this .svg or .png file.")] = None,
    store: Annotated[
        Path | None,
        typer.Option("--store", help="File that keeps the verdicts; an interrupted search resumes from it."),
    ] = None,
    max_memory: MaxMemoryOption = None,
    learned: LearnedOption = None,
    widths: WidthsOption = "16,32,64",
    ladder: LengthsOption = "5,10,20,40",
    rates: RatesOption = "5e-3,1e-3,5e-4",
    steps: StepsOption = 2000,
    goal: GoalOption = 0.99,
    place: Place = ANYWHERE,
    as_json: JsonOption = False,
) -> None:
    """Find the narrowest and the coarsest networks that certify, from points on a circle to sign codes."""
    if not learned:
        check_picture("--figure", figure)
        from separatrix.profiles import is_function_name

        # Before the other options: none of certified networks helps with a function.
        if is_function_name(construction):
            raise SeparatrixError(
                f"{construction} has no construction whose size could be searched; give --learned MODEL to train on "
                f"it, or ask what it needs with  separatrix design {construction} --length 12"
            )
    refuse_other_options(context, bool(learned))
    if learned:
        learned_frontier(
            context, construction, learned, widths=widths, lengths=ladder, rates=rates, steps=steps, goal=goal,
            place=place, store=store, figure=figure, as_json=as_json,
        )  # fmt: skip
        return
    from separatrix.cli.progress import progress_bar
    from separatrix.constructions import constructions
    from separatrix.site import frontier_picture
    from separatrix.table import FrontierStore, check_supported, survey, units

    chosen = constructions()[construction]
    check_supported(construction)
    limit = memory_limit(max_memory)
    if not 2 <= first <= last <= 20:
        raise SeparatrixError(f"--from {first} --to {last} is not a range of powers; choose 2 ≤ from ≤ to ≤ 20")
    largest = chosen.frontier_power
    if last > largest:
        raise SeparatrixError(
            f"--to {last} is too large for {construction}: certificates take too long beyond 2^{largest}; "
            f"choose --to {largest} or less"
        )
    lengths = [2**power for power in range(first, last + 1) if 2**power >= chosen.minimum_length]
    with progress_bar(f"{construction}: codes", as_json) as show, limited_memory(limit), FrontierStore(store) as decide:
        total, done = units(construction, lengths), 0

        def advance(what: str) -> None:
            nonlocal done
            show(what, done, total)
            done += 1

        try:
            found = survey(construction, lengths, decide, advance)
        except KeyboardInterrupt as error:
            if store is None:
                raise
            raise StoppedError(f"interrupted; {store} keeps all verdicts, and the same command resumes it") from error
    if decide.reused and store is not None:
        remark(f"{decide.reused} verdicts from {store}, {decide.decided} new ones")
    if figure is not None:
        write_picture(figure, frontier_picture(found))
    print_answer(context, found, as_json, arithmetic="fixed point")
