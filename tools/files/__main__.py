"""``python -m tools.files``: damaged, foreign and hostile files in the place of every file that the product reads.

For each reader (``readers``) a file that the product itself wrote is changed (``damage``, ``structures``,
``databases``), and the commands that read it are called, each in a process and a folder of its own. The contract:

* exit code 0, 1 (only of a check) or 2; what is refused is one line and prints no result; never a traceback;
* within ten seconds and 256 MiB beyond what the process held before;
* whoever only looks changes no file, whatever it finds; whoever writes changes none when it refuses;
* where there is a checksum nothing that was changed is read;
* a damaged checkpoint costs nothing but time: training says so and ends with the very numbers of an undisturbed one.

``--count 200 --seed 0`` repeats a campaign; ``--only check`` takes the readers of that name; ``--write
docs/reliability.md`` puts the tables there. Exit code 1 if a file broke the contract.
"""

import argparse
import hashlib
import json
import shutil
import stat
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from tools.calls.sandbox import Outcome, call, hand_over
from tools.files.damage import Mutant
from tools.files.readers import TRAIN, Reader, furnish, readers
from tools.pages import fill_section, keep, markdown_table

from separatrix.files import write_atomically

SECONDS = 10.0
PATIENCE = 60.0
"""How many times as long a call may take that works for less: others keep it waiting, and it is not to blame."""
BYTES = 256 << 20
PAGE_SECTION = "files"
ENDINGS = {
    "refused": "refused, exit 2", "false": "claim false, exit 1", "read": "read, exit 0", "went on": "training went on",
    "broken": "broke the contract",
}  # fmt: skip
LARGEST_HASHED = 64 << 20
REMEMBERED = 20
"""After so many files what is known is written down, if that is asked for."""


@dataclass
class Campaign:
    """What became of the mutants so far: endings by reader, and those that broke the contract."""

    endings: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    broken: list[str] = field(default_factory=list[str])
    slowest: float = 0.0
    largest: int = 0
    seconds: float = 0.0
    done: list[str] = field(default_factory=list[str])
    """Readers whose mutants are all judged."""
    reached: dict[str, int] = field(default_factory=dict[str, int])
    """The next mutant of each reader."""

    def remember(self, path: Path | None) -> None:
        """Write what is known so far to a file."""
        if path is not None:
            counts = [[list(key), value] for key, value in self.endings.items()]
            write_atomically(path, json.dumps({**vars(self), "endings": counts}))

    @classmethod
    def remembered(cls, path: Path | None) -> "Campaign":
        """What a file remembers, if there is one."""
        if path is None or not path.exists():
            return cls()
        plain = json.loads(path.read_text())
        plain["endings"] = Counter({tuple(key): value for key, value in plain["endings"]})
        return cls(**plain)


def snapshot(folder: Path) -> dict[str, Any]:
    """Every file below a folder with what it is and holds; links are not followed, large files not read."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        content: Any = None
        if stat.S_ISLNK(about.st_mode):
            content = str(path.readlink())
        elif stat.S_ISREG(about.st_mode):
            small = about.st_size <= LARGEST_HASHED
            content = about.st_size, hashlib.sha256(path.read_bytes()).hexdigest() if small else about.st_mtime_ns
        found[str(path.relative_to(folder))] = stat.S_IFMT(about.st_mode), content
    return found


def changed_files(reader: Reader, code: int, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Files that a call made or changed and must not have."""
    found: list[str] = []
    for name in sorted({*before, *after}):
        if before.get(name) == after.get(name) or name.endswith("-shm"):
            continue
        mine = name.split("/")[0] in reader.outputs or name.split("-")[0] in reader.outputs
        # Of a refused call only what it had not written before it failed: new files of its own are none.
        if mine and (code != 2 or (name not in before and not name.endswith((".partial", "-journal")))):
            continue
        found.append(name)
    return found


def defects(reader: Reader, outcome: Outcome, before: dict[str, Any], after: dict[str, Any], held: int) -> list[str]:
    """In what a call broke the contract."""
    found: list[str] = []
    if outcome.code not in ((0, 1, 2) if reader.may_be_false else (0, 2)):
        found.append(f"exit code {outcome.code}")
    if "Traceback" in outcome.err or "Exception ignored" in outcome.err:
        found.append("a traceback")
    lines = outcome.err.splitlines()
    if outcome.code == 2:
        if len(lines) != 1 or not lines[0].startswith("separatrix: "):
            found.append(f"refused in {len(lines)} lines")
        elif len(lines[0]) > 2000:
            found.append(f"refused in a line of {len(lines[0])} characters")
        if outcome.out:
            found.append("refused and printed a result")
    elif outcome.code in (0, 1) and "--json" in outcome.arguments:
        try:
            json.loads(outcome.out)
        except ValueError as error:
            found.append(f"no JSON: {error}")
    if outcome.interrupted:
        found.append(f"took longer than {SECONDS:g} s")
    if outcome.peak > held + BYTES:
        found.append(f"took {(outcome.peak - held) >> 20} MiB")
    found += [f"changed {name}" for name in changed_files(reader, outcome.code, before, after)]
    return found


class Attack:
    """One furnished folder and the campaign against what reads it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.template, self.place = folder, folder / "template", folder / "place"
        furnish(self.template)
        self.readers = readers(self.template)
        self.held = call(["--version"], self.template, "file", 60.0).peak
        self.whole = self._trained_undisturbed()

    def _trained_undisturbed(self) -> dict[str, Any]:
        shutil.copytree(self.template, self.place, symlinks=True)
        for each in self.place.glob("half.sqlite*"):
            each.unlink()
        shutil.rmtree(self.place / "half.files")
        hand_over(self.place)
        assert call(TRAIN, self.place, "file", 120.0).code == 0
        return self._trained()

    def _trained(self) -> dict[str, Any]:
        from tools.soak.stores import contents

        return contents(self.place / "half.sqlite")

    def against(
        self, reader: Reader, count: int, seed: int, made: Campaign, every: int = 1, state: Path | None = None
    ) -> None:
        """So many mutants of one reader's file, or only every one of them in ``every``, others for each reader."""
        data = (self.template / reader.file).read_bytes()
        first = made.reached.get(reader.name, self.readers.index(reader) * 7 % every)
        total = count // 2 if reader.slow else count
        for number, mutant in islice(enumerate(reader.mutants(data, total, seed)), first, None, every):
            if number % REMEMBERED == 0:
                made.reached[reader.name] = number
                made.remember(state)
            started = time.monotonic()
            self._prepare(reader)
            mutant.apply(self.place / reader.file)
            if reader.after is not None:
                reader.after(self.place)
            before = snapshot(self.place)
            arguments = reader.calls[number % len(reader.calls)]
            hand_over(self.place)
            outcome = call(arguments, self.place, "file", SECONDS, reader.main, idle=PATIENCE)
            found = defects(reader, outcome, before, snapshot(self.place), self.held)
            found += self._meaning(reader, mutant, outcome, data)
            made.seconds += time.monotonic() - started
            made.slowest = max(made.slowest, outcome.seconds)
            made.largest = max(made.largest, outcome.peak - self.held)
            ending = "broken" if found else {1: "false", 2: "refused"}.get(outcome.code, "read")
            ending = "went on" if reader.goes_on and ending == "read" else ending
            made.endings[reader.name, ending] += 1
            if found:
                told = "\n".join(f"  | {line[:300]}" for line in outcome.err.splitlines()[-6:])
                made.broken.append(
                    f"{reader.name}, mutant {number}: {mutant.kind}: {mutant.what}: {'; '.join(found)}\n"
                    f"  separatrix {' '.join(outcome.arguments)}, code {outcome.code}, {outcome.seconds:.1f} s\n{told}"
                )

    def _meaning(self, reader: Reader, mutant: Mutant, outcome: Outcome, data: bytes) -> list[str]:
        """Whether what was read is what it should be."""
        path = self.place / reader.file
        if outcome.code != 0:
            # A folder where a checkpoint belongs is somebody's: it is named and left alone.
            ended = reader.goes_on and outcome.code == 2 and mutant.what != "a folder"
            return ["a damaged checkpoint ended the training"] if ended else []
        if reader.goes_on:
            if self._trained() != self.whole:
                return ["the training ended with other numbers"]
            return []
        same = path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data
        if reader.strict and not same:
            return ["a changed file was read"]
        if mutant.kind == "a link that leads out" and not reader.links:
            return ["a link that leads out was followed"]
        return []

    def _prepare(self, reader: Reader) -> None:
        _remove(self.place)
        self.place.mkdir()
        for name in dict.fromkeys((reader.file.split("/")[0], *(each.split("/")[0] for each in reader.needs))):
            source = self.template / name
            if source.is_dir():
                shutil.copytree(source, self.place / name)
            else:
                shutil.copy2(source, self.place / name)


def _remove(folder: Path) -> None:
    for path in [folder, *(each for each in folder.rglob("*") if each.is_dir() and not each.is_symlink())]:
        path.chmod(0o755)
    shutil.rmtree(folder)


def record_of(made: Campaign, count: int, seed: int) -> dict[str, Any]:
    """The campaign as plain data."""
    return {
        "count": count,
        "seed": seed,
        "seconds": round(made.seconds, 1),
        "broken": len(made.broken),
        "slowest": round(made.slowest, 1),
        "largest": max(0, made.largest),
        "endings": _by_name(made.endings),
    }


def _by_name(counts: Counter[tuple[str, str]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (name, ending), number in counts.items():
        found.setdefault(name, {})[ending] = number
    return found


def page(record: Mapping[str, Any]) -> str:
    """The section of the page, from the record of a campaign."""
    total = sum(sum(each.values()) for each in record["endings"].values())
    said = f"`python -m tools.files --count {record['count']} --seed {record['seed']}`, {record['seconds']:.0f} s"
    head = (
        f"Of {total:,} files in {len(record['endings'])} places ({said}), {record['broken']} broke the contract. The "
        f"slowest call took {record['slowest']:.1f} s, the largest {record['largest'] >> 20} MiB more than a call that "
        "reads nothing."
    )
    rows = [
        [name, sum(found.values()), *(found.get(each, 0) for each in ENDINGS)]
        for name, found in record["endings"].items()
    ]
    return f"{head}\n\n{markdown_table(['read by', 'files', *ENDINGS.values()], rows)}"


def prepare() -> None:
    """Import once here what every call would import."""
    import importlib

    for name in ("torch", "safetensors.torch", "pydantic", "rich.progress", "rich.table", "separatrix.models",
                 "separatrix.cli.app", "separatrix.cli.training_run", "separatrix.training.sweep_file",
                 "separatrix.training.experiments.catalog", "separatrix.constructions", "separatrix.certificates",
                 "separatrix.certificates.certificate", "separatrix.capacities",
                 "separatrix.profiles", "separatrix.communication.protocols", "separatrix.table.recorded",
                 "separatrix.site.sections.frontier", "separatrix.table.frontier_store",
                 "separatrix.site.explorer.runs", "separatrix.training.exported_records",
                 "separatrix.models.state_precision", "separatrix.training.trained"):  # fmt: skip
        importlib.import_module(name)
    from separatrix.constructions import constructions
    from separatrix.tasks import tasks

    _ = tasks(), constructions()


def main() -> int:
    """Run a campaign."""
    parser = argparse.ArgumentParser(prog="python -m tools.files", description="hostile files for all that reads files")
    parser.add_argument("--count", type=int, default=200, help="files for each reader, half as many where it trains")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=1, help="take only one file in so many")
    parser.add_argument("--only", default="", help="readers whose name begins so")
    parser.add_argument("--write", type=Path, help="put the tables into this page")
    parser.add_argument("--state", type=Path, help="a file that remembers readers that are done, to go on from")
    given = parser.parse_args()
    prepare()
    made = Campaign.remembered(given.state)
    with tempfile.TemporaryDirectory() as folder:
        attack = Attack(Path(folder))
        for reader in attack.readers:
            if reader.name.startswith(given.only) and reader.name not in made.done:
                before = made.seconds
                attack.against(reader, given.count, given.seed, made, given.every, given.state)
                print(f"{reader.name}: {made.seconds - before:.0f} s", file=sys.stderr, flush=True)
                made.done.append(reader.name)
                made.remember(given.state)
    record = record_of(made, given.count, given.seed)
    text = page(record)
    if given.write:
        keep(PAGE_SECTION, record, given.write)
        fill_section(given.write, PAGE_SECTION, text)
    print(text)
    for each in made.broken:
        print(f"\n{each}")
    return 1 if made.broken else 0


if __name__ == "__main__":
    sys.exit(main())
