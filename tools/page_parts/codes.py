"""docs/sign-codes.md and the frontier's sentences: codes of positions, from the records of the searches."""

from tools.code_tables import PARTS as TABLES
from tools.code_tables import measured_widths
from tools.pages import Sentence, recorded

from benchmarks.constructions import SYMBOLS
from separatrix.arithmetic.codes.families import elliptic, orbit, random_draw
from separatrix.arithmetic.fixed_point import FixedPoint
from separatrix.table.frontier import LARGEST_CIRCLE, MOST_BITS

PAGE, FRONTIER = "docs/sign-codes.md", "docs/frontier.md"
LONG = 1 << 20


def ratios(other: str) -> list[int]:
    """How many times wider than the best code another column of the table is: least and most."""
    rows = [row for row in measured_widths() if row[other] != "–"]
    found = [int(row[other]) / int(row["best"].rstrip("*")) for row in rows]
    return [int(min(found)), int(max(found))]


def narrower() -> list[int]:
    """Against the paper's formula, and against the luckiest draws."""
    return [*ratios("paper"), *ratios("random-draw")]


def largest() -> dict[str, str]:
    """The row of the most vectors."""
    return measured_widths()[-1]


def searched() -> list[int]:
    """Length, dimension and distance of the codes of the search that a page names."""
    found = {(row[0], row[4]): row for row in orbit.FOUND}
    one_sided = [found[key] for key in ((8, 20), (9, 21), (12, 52), (13, 53))]
    two_sided = [found[key] for key in ((4, 10), (11, 56), (12, 63))]
    return [
        *(number for row in one_sided for number in (row[4], row[0], row[5])),
        *(number for row in two_sided for number in (row[4], row[0])),
    ]


def narrow_and_coarse() -> list[int]:
    """Widths and bits of Theorem 1 at N = 2^20: two circles, digits, and the fewest bits; then the theorem's own."""
    points = recorded("frontier-index-lookup")["planes"][str(LONG)]
    circles = next(each for each in points if each["code"] == "2 circles")
    digits = next(each for each in points if each["code"] == "digits")
    fewest = min(points, key=lambda each: (each["precision_bits"], each["width"]))
    own = theorems_own()
    return [
        SYMBOLS,
        *(number for each in (circles, digits, fewest) for number in (each["width"], each["precision_bits"])),
        own["width"],
        own["p"],
    ]


def stored() -> list[int]:
    """Hundreds of millions of bits, and width, of the narrowest network at N = 2^20 and Kc = 1, on circles."""
    found = next(each for each in recorded("frontier-index-lookup")["widths"] if each["length"] == LONG)["point"]
    return [round(found["size_bits"] / 1e8), found["width"]]


def theorems_own() -> dict[str, int]:
    """Width, bits of a number and size of Theorem 1 with its own code at N = 2^20."""
    report = recorded("benchmark-constructions")["reports"][-1]
    rows = [dict(zip(report["headings"], row, strict=True)) for row in report["rows"]]
    own = next(row for row in rows if row["construction"] == "index-lookup" and row["N"] == str(LONG))
    return {key: int(own[key]) for key in ("width", "p", "size in bits")}


PARTS = (
    *TABLES,
    Sentence(
        PAGE,
        "They are {} to {} times narrower than the paper's formula and {} to {} times narrower than the luckiest "
        "random draws",
        narrower,
    ),
    Sentence(PAGE, "words of width {} take well under a second", lambda: [largest()["best"]]),
    Sentence(
        PAGE,
        "It found [{}, {}, {}], [{}, {}, {}], [{}, {}, {}], [{}, {}, {}], and for the two-sided bound [{}, {}], "
        "[{}, {}] and [{}, {}]",
        searched,
    ),
    Sentence(PAGE, "one-sided nothing below {} for K = 12", lambda: [measured_widths()[4]["orbit"]]),
    Sentence(
        PAGE,
        "The irreducible cyclic code of length {} reaches width {} after puncturing, the shortened extended BCH code "
        "{}",
        lambda: [orbit.FOUND[-1][4], largest()["orbit"], largest()["trace"]],
    ),
    Sentence(
        PAGE,
        "Functions on an elliptic curve with {} points over GF(16), concatenated with the [8, 4, 4] code, give "
        "[{}, {}, {}], the narrowest we know; no search came near the limit of {}",
        lambda: [
            elliptic.ALL_POINTS,
            largest()["elliptic"],
            int(largest()["N"]).bit_length() - 1,
            4 * (elliptic.ALL_POINTS - int(largest()["N"]).bit_length() // 4),
            largest()["limit"],
        ],
    ),
    Sentence(
        PAGE,
        "at N = 16 to 4096 the best of many seeds reaches {}, {}, {}, {}, {}, and the codes above need "
        "{}, {}, {}, {}, {}",
        lambda: [
            *(width for _, width, _ in random_draw.FOUND[:5]),
            *(row["best"].rstrip("*") for row in measured_widths()[:5]),
        ],
    ),
    Sentence(
        FRONTIER,
        "Theorem 1 over {} symbols at N = 2^20 is certified with width {} and {}-bit numbers, with width {} and {} "
        "bits, and with width {} and {} bits; the theorem's own code has width {}, at Kc = 1 with {} bits",
        narrow_and_coarse,
    ),
    Sentence(FRONTIER, "of a whole Kc, there width {} at Kc = 1", lambda: [stored()[1]]),
    Sentence(FRONTIER, "grows with N: {}·10^8 bits at N = 2^20 for width {}", stored),
    Sentence(FRONTIER, "the theorem's own network has {:,} bits", lambda: [theorems_own()["size in bits"]]),
    Sentence(FRONTIER, "A circle has at most {} points here", lambda: [LARGEST_CIRCLE]),
    Sentence(FRONTIER, "fixed points of more than {} bits", lambda: [FixedPoint(2, MOST_BITS).precision_bits]),
)
