"""Certificates of great lengths that take minutes, recorded once for ``separatrix design``.

    python -m tools.record_certified 8192 mqar index-lookup   certify and add to the record
    python -m tools.record_certified 4096                     all constructions at a length

An entry of ``src/separatrix/shipped/certified.json`` names the construction, the length, the arithmetic and the hash of
the weights that were certified for all inputs, with the method; whoever builds the same weights may rely on it, and the
same command proves it again. What is not certified gets no entry.
"""

import argparse
import json
import time

from separatrix.certificates import Claim, check
from separatrix.constructions import constructions
from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.table.design_enough import RECORD, entry


def main() -> None:
    """Certify what is named and write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("length", type=int)
    parser.add_argument("names", nargs="*", default=[])
    given = parser.parse_args()
    for name in given.names or list(constructions()):
        started = time.perf_counter()
        try:
            built = constructions()[name].build(given.length)
        except SeparatrixError as error:
            print(f"{name}: {error}")
            continue
        verdict = check(built.network, Claim(built.task, built.length, built.arithmetic))
        seconds = round(time.perf_counter() - started, 1)
        print(f"{name} at {given.length}: {verdict.reason}, {seconds} s", flush=True)
        if verdict.valid:
            add({**entry(name, built), "method": verdict.method, "inputs_covered": verdict.inputs_covered})


def add(found: dict[str, object]) -> None:
    """Put one certificate into the record, in the place of an older one."""
    listed = json.loads(RECORD.read_text(encoding="utf-8"))["certified"] if RECORD.exists() else []
    same = ("construction", "length")
    kept = [each for each in listed if any(each[key] != found[key] for key in same)]
    listed = sorted([*kept, found], key=lambda each: (each["construction"], each["length"]))
    write_atomically(RECORD, json.dumps({"certified": listed}, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
