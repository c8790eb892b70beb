"""Trained weights certified for every input: those of a run of a store, or of a folder with a weight file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from separatrix.answer import Answer, Fact, Sheet, Tone
from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.models import SequenceModel
    from separatrix.tasks import Task

COVERED_TASKS = (
    "covered are TF of one layer on index-lookup, majority, equality and other tasks that count conditions, TF of two "
    "layers on index-lookup and associative-recall, and RNN, GRU, LSTM and Mamba of one layer on dyck"
)
LARGEST_CLAIM = 1 << 26
RUN_NAME = re.compile(r"[0-9a-f]{4,16}")
"""The name of a run, or its first digits."""
WEIGHTS_ARITHMETIC = "exact over the stored float32 weights, and float32 in any order of summation"


Kind: TypeAlias = Literal["lookup", "counts", "words", "cases"]
PARTS: Mapping[Kind, tuple[str, str]] = {
    "lookup": ("pairs", "pairs (position, symbol)"),
    "counts": ("slices", "slices (last token, counts)"),
    "cases": ("cases", "cases (group and its tokens)"),
}
"""What inputs are divided into: the name in JSON, and for people."""


@dataclass(frozen=True)
class GivenWeights:
    """A trained model, the length that it was trained for, what to call it, its task, and how it is certified."""

    model: "SequenceModel"
    length: int
    label: str
    task: "Task"
    kind: Kind


@dataclass(frozen=True, repr=False, kw_only=True)
class CertifiedWeights(Answer):
    """What was decided about trained weights; ``certified`` only where they are correct on every input."""

    run: str
    model: str
    task: str
    certified: bool
    arithmetic: str = WEIGHTS_ARITHMETIC
    certificate: str | None

    def __bool__(self) -> bool:
        """Return whether every input is certified."""
        return self.certified

    @property
    def title(self) -> Fact:
        """The model and its run."""
        return Fact("model", f"{self.model}, run {self.run}, trained")


@dataclass(frozen=True, repr=False, kw_only=True)
class CertifiedWords(CertifiedWeights):
    """A recurrent model on the words of a language, of every length."""

    words: str
    state_bits: int | None
    outcome: str
    automaton_states: int
    boxes: int
    counterexample: tuple[int, ...] | None
    counterexample_shown: str | None

    def sheet(self) -> Sheet:
        """Show the verdict, the word that fails, and the size of the proof."""
        rounded = (
            f"with its state rounded to {self.state_bits} bits after every token" if self.state_bits else "as it is"
        )
        verdicts: dict[str, tuple[str, Tone]] = {
            "certified": (f"certified: right after every word, of {self.words}", "good"),
            "counterexample": ("counterexample: a word after which torch errs", "bad"),
            "open": ("open: no boxes were found that no token leaves, and no word that fails", "doubt"),
        }
        facts = [
            self.title,
            Fact("network", rounded),
            Fact("task", self.task),
            Fact("verdict", *verdicts[self.outcome]),
            Fact("arithmetic", self.arithmetic),
        ]
        if self.counterexample_shown is not None:
            facts.append(Fact("the word", self.counterexample_shown))
        if self.certified:
            facts.append(Fact("boxes", f"{self.boxes} for {self.automaton_states} states of the automaton"))
            facts.append(Fact("certificate", self.certificate or ""))
        return Sheet(facts=tuple(facts))


@dataclass(frozen=True, repr=False, kw_only=True)
class CertifiedParts(CertifiedWeights):
    """A Transformer on the inputs of a length, which were divided into parts; ``open`` parts are not decided.

    ``parts``: how many have each outcome. ``alphabet``: that of a lookup by one layer.
    """

    kind: Kind
    length: int
    inputs: str
    share_certified: str
    resumed: int
    counterexamples: tuple[tuple[int, ...], ...]
    counterexamples_shown: tuple[str, ...]
    open: tuple[Any, ...]
    parts: Mapping[str, int]
    alphabet: int | None

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain data, the parts under the name of their kind."""
        left_out = {"kind", "parts", "counterexamples_shown" if self.kind == "lookup" else "alphabet"}
        found = {name: value for name, value in super().as_dict().items() if name not in left_out}
        return {**found, PARTS[self.kind][0]: dict(self.parts)}

    def sheet(self) -> Sheet:
        """Show the verdict, the parts, and a counterexample."""
        counts, verdict = self.parts, Fact("verdict", f"certified: right on all {self.inputs} inputs", "good")
        if not self.certified:
            share = f"{self.share_certified} of {self.inputs} inputs"
            verdict = Fact("verdict", f"not certified as a whole: {share}", "doubt")
        parts = (
            f"{counts['certified']} of {sum(counts.values())} certified, each for all of its inputs; "
            f"{counts['counterexample']} with a counterexample; {counts['open']} open"
        )
        facts = [self.title, verdict, Fact(PARTS[self.kind][1], parts)]
        if self.counterexamples:
            facts.append(Fact("a counterexample", f"{self.counterexamples_shown[0]}: torch errs"))
        if self.resumed:
            earlier = f"{self.resumed} were decided before an interruption, and were not repeated"
            facts.append(Fact("of these", earlier))
        facts += [Fact("arithmetic", self.arithmetic), Fact("certificate", self.certificate or "")]
        return Sheet(facts=tuple(facts))


def weights_given(name: str, store: Path | None) -> GivenWeights:
    """Return the model of a folder or a run; what is not covered is refused."""
    from separatrix_kernel.trained import WEIGHTS_FILE

    if Path(name).is_dir() and (RUN_NAME.fullmatch(name) is None or (Path(name) / WEIGHTS_FILE).is_file()):
        if store is not None:
            raise SeparatrixError(f"--store {store} is for the name of a run, and {name} is a folder; leave it out")
        return _in_folder(Path(name))
    from separatrix.models import CELLS, check_described, check_recurrent, counts, lookup_groups, parse_spec
    from separatrix.tasks import automaton_of
    from separatrix.training import Records, store_path, trained_model

    with Records(store_path(store), create=False) as records:
        record = records.get(name)
        spec, model, task = record.spec, parse_spec(record.spec.architecture), record.spec.the_task()
        kind = "lookup"
        if automaton_of(task) is not None:
            kind = "words"
            check_recurrent(model, spec.precision)
        else:
            counting, groups = counts(task, spec.length), lookup_groups(task, spec.length)
            if not counting and groups is None:
                raise SeparatrixError(f"run {name} is of {spec.task}, which cannot be certified; {COVERED_TASKS}")
            one_layer = counting or spec.task == "index-lookup"
            if model.entries[0].name in CELLS or (not one_layer if model.depth == 1 else groups is None):
                raise SeparatrixError(f"{model} on {spec.task} cannot be certified; {COVERED_TASKS}")
            kind = "cases" if model.depth > 1 else "counts" if counting else "lookup"
            check_described(model, spec.precision)
        return GivenWeights(trained_model(record, records.files), spec.length, spec.name, task, kind)


def _in_folder(folder: Path) -> GivenWeights:
    """Return the model of a folder; but for lookups the task is in the certificate there."""
    from separatrix.models import model_from, recurrent_from
    from separatrix.reading import parse_json, read_file
    from separatrix.tasks import labelled_task, tasks
    from separatrix_kernel.trained import COUNTS_FORMAT, TRAINED_FILE, TWO_LAYERS_FORMAT, WEIGHTS_FILE, WORDS_FORMAT

    if not (folder / WEIGHTS_FILE).is_file():
        raise SeparatrixError(f"{folder} has no {WEIGHTS_FILE}; name a run, or a folder that certify wrote")
    data = (folder / WEIGHTS_FILE).read_bytes()
    claim: dict[str, Any] = {}
    if (folder / TRAINED_FILE).is_file():
        found = parse_json(read_file(folder / TRAINED_FILE, LARGEST_CLAIM, "give a folder that certify wrote"))
        claim = cast("dict[str, Any]", found) if isinstance(found, dict) else claim
    if claim.get("format") == WORDS_FORMAT:
        return GivenWeights(recurrent_from(data), 1, folder.name, labelled_task(str(claim.get("task"))), "words")
    try:
        model, length = model_from(data), claim.get("length")
    except SeparatrixError as error:
        if claim:
            raise
        raise SeparatrixError(
            f"{folder} has no {TRAINED_FILE}, which names the task, so that its weights are read as a lookup's: {error}"
        ) from error
    if claim.get("format") in (COUNTS_FORMAT, TWO_LAYERS_FORMAT):
        task = labelled_task(str(claim.get("task")))
        kind = "counts" if claim.get("format") == COUNTS_FORMAT else "cases"
        return GivenWeights(model, length if isinstance(length, int) else 0, folder.name, task, kind)
    if model.spec.depth > 1 or model.vocabulary < model.classes + model.length - 1:
        raise SeparatrixError(
            f"{folder} has no {TRAINED_FILE}, which names the task, and its weights are not of a lookup; name a run"
        )
    lookup = tasks()["index-lookup"].with_parameters(alphabet=model.classes)
    return GivenWeights(model, model.length - 1, folder.name, lookup, "lookup")


def certify_weights(given: GivenWeights, length: int, folder: Path, nodes: int, bits: int) -> CertifiedWeights:
    """Decide trained weights for every input of a length, or of words for every word, and write the certificate."""
    from separatrix.models import certify_cases, certify_counts, certify_lookup, certify_words
    from separatrix.provers import Outcome
    from separatrix.tasks import changed_label, task_label

    model, task = given.model, given.task
    about: dict[str, Any] = {"run": given.label, "model": str(model.spec)}
    if given.kind == "words":
        verdict = certify_words(model, task, folder, bits)
        certified, failing = verdict.outcome == Outcome.CERTIFIED, verdict.failing
        return CertifiedWords(
            **about,
            task=task_label(task),
            certified=certified,
            certificate=str(folder) if certified else None,
            words="every length" if verdict.empty else "every length but 0",
            state_bits=verdict.bits or None,
            outcome=str(verdict.outcome),
            automaton_states=verdict.states,
            boxes=verdict.boxes,
            counterexample=failing,
            counterexample_shown=None if failing is None else _shown_word(task, failing),
        )
    if given.kind == "lookup":
        found = certify_lookup(model, length, folder, nodes)
    else:
        certify = certify_counts if given.kind == "counts" else certify_cases
        found = certify(model, task, length, folder, nodes)
    failing_inputs = tuple(found.failing())
    return CertifiedParts(
        **about, kind=given.kind, task=task.name if given.kind == "lookup" else changed_label(task),
        certified=found.share == 1, certificate=str(folder), length=found.length, inputs=found.inputs,
        share_certified=str(found.share), resumed=found.resumed, counterexamples=failing_inputs,
        counterexamples_shown=tuple(_shown_input(given, found.length, row) for row in failing_inputs),
        open=tuple(found.left()), parts={str(outcome): found.count(outcome) for outcome in Outcome},
        alphabet=model.classes if given.kind == "lookup" else None,
    )  # fmt: skip


def _shown_input(given: GivenWeights, length: int, row: tuple[int, ...]) -> str:
    """Return an input as the task writes it; of a lookup the text and the position in words."""
    if given.kind != "lookup":
        return given.task.write(list(row), length)
    *text, query = row
    return f"{' '.join(map(str, text))}, query position {query - given.model.classes + 1}"


def _shown_word(task: "Task", word: tuple[int, ...]) -> str:
    """Return a word for people."""
    texts = task.vocabulary(max(len(word), 1)).texts(list(word))
    return task.joiner.join(texts) or "the empty word"
