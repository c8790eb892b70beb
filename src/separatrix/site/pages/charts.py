"""Charts that need several sections: for each task, sizes from above and bounds from below against N, on log axes.

A colour is a class of models. Shaded is what a lower bound excludes, at one precision. Marks are certified networks,
dashed lines the theorems' sizes, dotted lines the narrowest that the same construction could be with any sign code at
all (Delsarte's limit).
"""

from typing import TYPE_CHECKING, Any

from separatrix.bounds import FIXED
from separatrix.constructions import constructions
from separatrix.site.figure import PALETTE, draw, legend_below
from separatrix.site.pages.cells import TITLES, Grid
from separatrix.site.pages.text import short
from separatrix.site.section import Figure

if TYPE_CHECKING:
    from separatrix.bounds import Model
    from separatrix.site.sections.numbers import BoundSizes, BuiltSizes, NumbersResults

COLOURS = dict(zip(TITLES, (PALETTE[1], PALETTE[0], PALETTE[2], PALETTE[4], PALETTE[3], PALETTE[5]), strict=True))
STYLES: dict[str, Any] = {
    "transformer-1layer": (0, (9, 1, 2, 1)),
    "fnn": "-.",
    "graph-transformer": (0, (4, 1, 1, 1, 1, 1)),
}
"""Lines of bounds that would otherwise differ by colour alone; a bound on recurrent models is solid."""


def width_figure(task: str, title: str, numbers: "NumbersResults", grid: Grid) -> Figure | None:
    """The chart of one task; None where nothing about it has a size."""
    cells = numbers.cells[task]
    precision = grid.precisions[grid.precision]
    served = [each.name for cell in cells.values() for each in cell.constructions]
    own = [name for name, entry in numbers.constructions.items() if entry.task == task]
    built = {name: numbers.constructions[name] for name in dict.fromkeys([*served, *own])}
    bounds: list[tuple[Model, BoundSizes]] = [(model, bound) for model, cell in cells.items() for bound in cell.bounds]
    if not built and not bounds:
        return None

    strongest = _strongest(bounds, grid.precision)
    excluded = " / ".join(TITLES[model].removeprefix("any ") for model, _ in strongest)
    excluded = f"any {excluded}" if excluded else ""

    def paint(axes: Any) -> None:
        from matplotlib.patches import Patch

        top = _paint_constructions(axes, built, grid)
        for model, bound in strongest:
            widths = bound.widths[grid.precision]
            colour = COLOURS[model]
            axes.plot(grid.lengths, widths, linestyle=STYLES.get(model, "-"), color=colour, linewidth=1.8,
                      label=f"{TITLES[model]}: at least, p = {precision}")  # fmt: skip
            axes.fill_between(grid.lengths, 0.5, widths, color=colour, alpha=0.10, linewidth=0)
            top = max(top, *widths)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xlim(grid.lengths[0], grid.lengths[-1])
        axes.set_ylim(0.8, 2 * top)
        ticks = grid.lengths[::4]
        axes.set_xticks(ticks, [short(tick) for tick in ticks])
        highest = int(2 * top).bit_length()
        heights = [1 << power for power in range(0, highest, max(2, 2 * round(highest / 16)))]
        axes.set_yticks(heights, [short(each) for each in heights])
        axes.minorticks_off()
        axes.set_xlabel("length N")
        axes.set_ylabel("width × heads")
        axes.grid(alpha=0.3)
        handles, labels = axes.get_legend_handles_labels()
        if excluded:
            handles.append(Patch(color="#555555", alpha=0.25, linewidth=0))
            labels.append("shaded: impossible for that class")
        legend_below(axes.figure, handles, labels, columns=2, handlelength=2.6, columnspacing=1.2)

    shade = f" Shaded is impossible for {excluded} at p = {precision}, and for no other class." if excluded else ""
    outside = [f"{name} is a {entry.kind}" for name, entry in built.items() if not entry.model]
    outside += [f"{name} computes in {kind}" for name in built if (kind := _arithmetic(name)) != FIXED.name]
    shade += f" {', '.join(outside)}, to which no bound here applies." if outside and excluded else ""
    caption = f"{title}: marks are certified on all inputs, dashed is the theorem's size.{shade}"
    return draw(f"widths-{task}", caption, paint, 5.8, 4.4)


def _paint_constructions(axes: Any, built: "dict[str, BuiltSizes]", grid: Grid) -> float:
    """Certified marks, formula lines and Delsarte's limit; returns the largest size."""
    top = 4.0
    limited = False
    for place, (name, entry) in enumerate(built.items()):
        colour = COLOURS[entry.model] if entry.model else "#555555"
        marker = "osD^vP"[place % 6]
        sizes = [(each.length, each.product) for each in entry.sizes]
        certified = [(length, each.product, each.theorem) for length, each in grid.points(name)]
        own = [(length, size) for length, size, theorem in certified if theorem]
        narrow = [(length, size) for length, size, theorem in certified if not theorem]
        if sizes:
            axes.plot(
                *zip(*sizes, strict=True), "--", color=colour, linewidth=1.1, label=f"_{name}, the theorem's size"
            )
        if own:
            axes.plot(*zip(*own, strict=True), linestyle="none", marker=marker, markersize=5, color=colour,
                      label=f"_{name}, certified")  # fmt: skip
        # One entry for the line and its marks: without the marks two networks of one class would look the same.
        # A network of another class than those with a column may lie below their bounds, which say nothing of it.
        shown = f"{TITLES[entry.model] if entry.model else entry.kind}: enough ({name})"
        if (kind := _arithmetic(name)) != FIXED.name:
            shown += f" in {kind}"
        if sizes or own:
            axes.plot([], [], linestyle="--" if sizes else "none", marker=marker if own else "", markersize=5,
                      color=colour, linewidth=1.1, label=shown)  # fmt: skip
        if narrow:
            axes.plot(*zip(*narrow, strict=True), linestyle="none", marker=marker, markersize=5, markerfacecolor="none",
                      color=colour, label=f"narrowest certified ({name})")  # fmt: skip
        limits = [(each.length, each.limit * max(1, each.heads or 1)) for each in entry.sizes if each.limit]
        if limits:
            axes.plot(*zip(*limits, strict=True), ":", color="#555555", linewidth=1.3,
                      label=f"{'_' * limited}best possible sign code (Delsarte)")  # fmt: skip
            limited = True
        top = max([top, *(size for _, size in sizes), *(size for _, size, _ in certified)])
    return top


def _arithmetic(name: str) -> str:
    return constructions()[name].arithmetic_kind


def _strongest(bounds: "list[tuple[Model, BoundSizes]]", precision: int) -> "list[tuple[Model, BoundSizes]]":
    """For each class the bound with the largest width at the largest N; one that excludes no width is not drawn."""
    best: dict[Model, BoundSizes] = {}
    for model, bound in bounds:
        if max(bound.widths[precision]) <= 1:
            continue
        held = best.get(model)
        if held is None or bound.widths[precision][-1] > held.widths[precision][-1]:
            best[model] = bound
    return list(best.items())
