"""What ``separatrix bound`` prints for a person: one table, from the same result that ``--json`` prints."""

from typing import Any

from separatrix.cli.output import console
from separatrix.wording import counted


def print_bound(result: dict[str, Any]) -> None:
    """The claim with its numbers, then the evidence, then what else is known."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    named = " ".join([result["task"], *(f"{name}={value}" for name, value in result["settings"].items())])
    title = f"{escape(named)}, {result['model']}, N = {result['length']}, p = {result['precision_bits']}"
    for each in result["refuted"]:
        table.add_row("[red]REFUTED[/red]", f"[red]{escape(each['text'])}[/red]")
    depth = f", L = {result['layers']}" if result["layers"] > 1 else ""
    table.add_row("asked", f"{title}, H = {result['heads']}{depth}")
    if result["known"]:
        first = result["bounds"][0]
        derived = "" if first["in_the_papers"] else " (derived here, not in the papers)"
        if first["from_file"]:
            derived = f" (from {escape(first['from_file'])})"
        if first["other_parameters"]:
            derived += "; stated for other parameters, the formula is for these"
        table.add_row("claim", f"{escape(result['claim'])}: {escape(result['statement'])}{derived}")
        if result["quantity"] == "state numbers":
            of = f"{counted(result['at_least'], 'number')} of {counted(result['precision_bits'], 'bit')}"
            needed = f"for {counted(first['bits_needed'], 'bit')}"
            table.add_row("smallest state", f"[bold]{of}[/bold], {needed} (m counts the numbers of the state)")
        else:
            table.add_row("smallest width", f"[bold]{result['at_least']}[/bold] (bounded: {first['bounded']})")
        table.add_row("formula", escape(result["formula"]))
        table.add_row("arithmetic", escape(result["arithmetic"]))
        if first["paper_formula"]:
            paper = f"m ≥ {first['paper_formula']}, so m ≥ {first['paper_at_least']}"
            table.add_row("as in the paper", escape(paper))
        for assumption in result["assumptions"]:
            table.add_row("assumed", escape(assumption))
    else:
        table.add_row("claim", f"[yellow]{escape(result['claim'])}[/yellow]")
        table.add_row("arithmetic", escape(result["arithmetic"]))
    if result["architecture"]:
        table.add_row("this model", _verdict_text(result))
        for assumption in result["architecture"]["assumed"]:
            table.add_row("assumed", escape(assumption))
    for each in result["evidence"]:
        mark = "[green]holds[/green]: " if each["holds"] else "[red]refuted[/red]: "
        table.add_row(each["kind"], f"{'' if each['kind'] == 'cited' else mark}{escape(each['text'])}")
    for each in result["rests_on"]:
        table.add_row("at this N", escape(each))
    for bound in result["bounds"][1 if result["known"] else 0 :]:
        size = f"{bound['quantity']}: {bound['at_least']}"
        label = "in the papers" if bound["in_the_papers"] and not result["in_the_papers"] else "also"
        table.add_row(label, escape(f"{size}; {bound['claim']}, {bound['statement']}"))
    for each in result["silent"]:
        table.add_row("not about this", escape(f"{each['claim']}: {each['text']}"))
    for remark in result["remarks"]:
        table.add_row(remark["kind"], escape(f"{remark['claim']}: {remark['statement']}"))
    above = result["known_from_above"]
    # What grows faster than the best from above in the same arithmetic says nothing more; --json has it all.
    best = {each["arithmetic"]: each["growth"] for each in reversed(above)}
    asked = above[0]["arithmetic"] if above else ""
    for side in above:
        within = "" if side["arithmetic"] == asked else f", in {side['arithmetic']} point of growing precision alone"
        if side["growth"] == best[side["arithmetic"]] and (not within or side["growth"] != best[asked]):
            table.add_row("from above", escape(f"{side['growth']}: {side['text']} ({side['source']}{within})"))
    console().print(table)


def _verdict_text(result: dict[str, Any]) -> str:
    from rich.markup import escape

    own = result["architecture"]
    size = (
        f"m = {own['width']}, H = {own['heads']}"
        if own["state_bits"] is None
        else f"{own['state_bits']:,} state bits, as in {-(-own['state_bits'] // result['precision_bits']):,} numbers"
    )
    longest = own["longest_possible"]
    beyond = "" if longest is None else f"; beyond N = {longest:,} no weights will do"
    if longest == 0:
        beyond = "; no weights will do at any length"
    if not result["bounds"]:
        return f"{result['model']} ({own['class']}, {size}): nothing is excluded"
    if own["possible"]:
        return f"{result['model']} ({own['class']}, {size}): not excluded at N = {result['length']}{beyond}"
    by = escape(", ".join(own["excluded_by"]))
    within = escape(", ".join(own["arithmetic"]))
    if own["partial_sums"] is not None:
        within += f"; or in any fixed order that hands on at most {counted(own['partial_sums'], 'partial sum')}"
    verdict = "impossible with any weights"
    if own["functions"]:
        verdict = f"no choice of weights computes {escape(own['functions'])}"
    return f"[red]{result['model']} ({own['class']}, {size}): {verdict}[/red] in {within} ({by}){beyond}"
