"""What a person sees of a bound: one list of facts, from the same record that ``--json`` prints."""

from typing import Any

from separatrix.answer import Fact, Sheet, Tone
from separatrix.wording import counted


def bound_sheet(result: dict[str, Any]) -> Sheet:
    """Return the claim with its numbers, then the evidence, then what else is known."""
    facts: list[Fact] = []

    def add(label: str, text: str, tone: Tone = "") -> None:
        facts.append(Fact(label, text, tone))

    named = " ".join([result["task"], *(f"{name}={value}" for name, value in result["settings"].items())])
    title = f"{named}, {result['model']}, N = {result['length']}, p = {result['precision_bits']}"
    for each in result["refuted"]:
        add("REFUTED", each["text"], "bad")
    depth = f", L = {result['layers']}" if result["layers"] > 1 else ""
    add("asked", f"{title}, H = {result['heads']}{depth}")
    if result["known"]:
        first = result["bounds"][0]
        derived = "" if first["in_the_papers"] else " (derived here, not in the papers)"
        if first["from_file"]:
            derived = f" (from {first['from_file']})"
        if first["other_parameters"]:
            derived += "; stated for other parameters, the formula is for these"
        add("claim", f"{result['claim']}: {result['statement']}{derived}")
        if result["quantity"] == "state numbers":
            of = f"{counted(result['at_least'], 'number')} of {counted(result['precision_bits'], 'bit')}"
            needed = f"for {counted(first['bits_needed'], 'bit')}"
            add("smallest state", f"{of}, {needed} (m counts the numbers of the state)")
        else:
            add("smallest width", f"{result['at_least']} (bounded: {first['bounded']})")
        add("formula", result["formula"])
        add("arithmetic", result["arithmetic"])
        if first["paper_formula"]:
            paper = f"m ≥ {first['paper_formula']}, so m ≥ {first['paper_at_least']}"
            add("as in the paper", paper)
        for assumption in result["assumptions"]:
            add("assumed", assumption)
    else:
        add("claim", result["claim"], "doubt")
        add("arithmetic", result["arithmetic"])
    if result["architecture"]:
        add("this model", _verdict_text(result), "" if result["architecture"]["possible"] else "bad")
        for assumption in result["architecture"]["assumed"]:
            add("assumed", assumption)
    for each in result["evidence"]:
        mark = "holds: " if each["holds"] else "refuted: "
        tone: Tone = "" if each["kind"] == "cited" else "good" if each["holds"] else "bad"
        add(each["kind"], f"{mark if tone else ''}{each['text']}", tone)
    for each in result["rests_on"]:
        add("at this N", each)
    for bound in result["bounds"][1 if result["known"] else 0 :]:
        size = f"{bound['quantity']}: {bound['at_least']}"
        label = "in the papers" if bound["in_the_papers"] and not result["in_the_papers"] else "also"
        add(label, f"{size}; {bound['claim']}, {bound['statement']}")
    for each in result["silent"]:
        add("not about this", f"{each['claim']}: {each['text']}")
    for remark in result["remarks"]:
        add(remark["kind"], f"{remark['claim']}: {remark['statement']}")
    above = result["known_from_above"]
    # What grows faster than the best upper bound in the same arithmetic says nothing more; --json has it all.
    best = {each["arithmetic"]: each["growth"] for each in reversed(above)}
    asked = above[0]["arithmetic"] if above else ""
    for side in above:
        within = "" if side["arithmetic"] == asked else f", in {side['arithmetic']} point of growing precision alone"
        if side["growth"] == best[side["arithmetic"]] and (not within or side["growth"] != best[asked]):
            add("sufficient", f"{side['growth']}: {side['text']} ({side['source']}{within})")
    return Sheet(facts=tuple(facts))


def _verdict_text(result: dict[str, Any]) -> str:
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
    by = ", ".join(own["excluded_by"])
    within = ", ".join(own["arithmetic"])
    if own["partial_sums"] is not None:
        within += f"; or in any fixed order that passes on at most {counted(own['partial_sums'], 'partial sum')}"
    verdict = "impossible with any weights"
    if own["functions"]:
        verdict = f"no choice of weights computes {own['functions']}"
    return f"{result['model']} ({own['class']}, {size}): {verdict} in {within} ({by}){beyond}"
