"""From a folder with trained weights to a verdict: for which questions and symbols is a lookup right on every text?

Claims about counts, about words and about two layers have their own formats (``thresholds``, ``words``,
``two_layers``); this one is about lookups of one layer.
``trained.json`` names the weights by their hash and gives a proof for each pair (place p, symbol c) that it claims:
every text of the length that has c at p gets the answer c to the question p. Right means that c's logit is the only
largest one, in exact arithmetic over the stored float32 weights, and in every float32 evaluation that ``balls``
describes. Nothing is searched here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from separatrix_kernel.reading import fields, hashed, integer, integers, items, parse, read_bytes, require, text

if TYPE_CHECKING:
    from separatrix_kernel.thresholds import CountsAccepted
    from separatrix_kernel.two_layers import TwoLayersAccepted
    from separatrix_kernel.words import WordsAccepted

TRAINED_FORMAT = "separatrix-trained-1"
COUNTS_FORMAT = "separatrix-counts-1"
TWO_LAYERS_FORMAT = "separatrix-two-layers-1"
WORDS_FORMAT = "separatrix-words-1"
TRAINED_FILE = "trained.json"
WEIGHTS_FILE = "weights.safetensors"
TRAINED_FIELDS = ("format", "task", "alphabet", "length", "sha256", "certified", "counterexamples", "open")
Listener = Callable[[int, int], None]


@dataclass(frozen=True)
class TrainedAccepted:
    """What was shown about trained weights."""

    alphabet: int
    length: int
    sha256: str
    certified: tuple[tuple[int, int], ...]
    """The pairs (place, symbol), from 0 on, that are right on every text."""
    counterexamples: tuple[tuple[int, ...], ...]
    """Inputs that are stated to fail; whoever believes that runs them."""
    left_open: int

    @property
    def share(self) -> Fraction:
        """The share of all inputs that are certified: each pair has as many texts as any other."""
        return Fraction(len(self.certified), self.alphabet * self.length)

    def share_in_words(self) -> str:
        """That share for people."""
        return "all inputs" if self.share == 1 else f"{self.share} of all inputs"

    def words(self) -> str:
        """The claim in plain words, one fact a line."""
        every = self.alphabet * self.length
        return "\n".join(
            [
                f"weights     {WEIGHTS_FILE}, SHA-256 {self.sha256}",
                f"task        texts of {self.length} symbols from {self.alphabet}, then a place p; right is symbol p",
                f"shown       {len(self.certified)} of {every} pairs (place, symbol), each for all "
                f"{self.alphabet}^{self.length - 1} texts: {self.share_in_words()}",
                f"not shown   {every - len(self.certified)} pairs; {len(self.counterexamples)} inputs, it says, fail",
                "arithmetic  exact over the stored float32 weights, and float32 in any order of summation",
            ]
        )


def read_claim(content: Any) -> dict[str, Any]:
    """The content of ``trained.json``, checked for its form."""
    found = fields(content, TRAINED_FILE, TRAINED_FIELDS)
    text(found["format"], "the format", [TRAINED_FORMAT])
    text(found["task"], "the task", ["index-lookup"])
    alphabet, length = integer(found["alphabet"], "the alphabet", 2), integer(found["length"], "the length", 1)
    pairs: set[tuple[int, int]] = set()
    for each in items(found["certified"], "the certified pairs"):
        row = items(each, "a certified pair", 3)
        pair = integer(row[0], "a place", 0, length - 1), integer(row[1], "a symbol", 0, alphabet - 1)
        require(pair not in pairs, f"the pair {pair} is listed twice")
        pairs.add(pair)
    for each in items(found["open"], "the open pairs"):
        require(len(integers(each, "an open pair", 0)) == 2, "an open pair is not a place and a symbol")
    for each in items(found["counterexamples"], "the counterexamples"):
        row = integers(each, "a counterexample", 0)
        require(len(row) == length + 1, "a counterexample has another length")
        in_range = all(s < alphabet for s in row[:-1]) and alphabet <= row[-1] < alphabet + length
        require(in_range, "a counterexample is not an input")
        require((row[-1] - alphabet, row[row[-1] - alphabet]) not in pairs, "a counterexample is of a certified pair")
    return found


def check_trained(content: Any, data: bytes, listen: Listener | None = None) -> TrainedAccepted:
    """Check the content of ``trained.json`` against the bytes of the weights; refuses with the pair that failed."""
    from separatrix_kernel.lookup import Lookup, proved
    from separatrix_kernel.transformer import Weights

    found = read_claim(content)
    digest = hashed(found["sha256"], data, "the weights have")
    alphabet, length = found["alphabet"], found["length"]
    model = Lookup(Weights(data), alphabet, length)
    # In the order of questions, so that the scores of each are computed once.
    rows = sorted(found["certified"], key=lambda row: (row[0], row[1]))
    for number, (p, c, proof) in enumerate(rows):
        if listen is not None:
            listen(number, len(rows))
        proved(model, p, c, proof)
    failing = tuple(tuple(row) for row in found["counterexamples"])
    pairs = tuple((p, c) for p, c, _ in rows)
    return TrainedAccepted(alphabet, length, digest, pairs, failing, len(found["open"]))


def check_trained_folder(
    folder: Path, listen: Listener | None = None
) -> "TrainedAccepted | CountsAccepted | WordsAccepted | TwoLayersAccepted":
    """Check the claim about trained weights in a folder; only the files of its own rule are loaded."""
    content, data = parse(read_bytes(folder / TRAINED_FILE), TRAINED_FILE), read_bytes(folder / WEIGHTS_FILE)
    stated = cast("dict[str, Any]", content).get("format") if isinstance(content, dict) else None
    if stated == WORDS_FORMAT:
        from separatrix_kernel.words import check_words

        return check_words(content, data, listen)
    if stated == TWO_LAYERS_FORMAT:
        from separatrix_kernel.two_layers import check_two_layers

        return check_two_layers(content, data, listen)
    if stated == COUNTS_FORMAT:
        from separatrix_kernel.thresholds import check_counts

        return check_counts(content, data, listen)
    return check_trained(content, data, listen)
