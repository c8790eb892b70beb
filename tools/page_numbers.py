"""Numbers of a page that no script answers for.

A number that came out of a run or a computation must be in a block that the tests run or in a part that a script
writes (``tools.page_parts``). What is left are numbers that are no results: kinds of them are listed here, each with a
pattern. Whole numbers of one digit are left alone: in prose they count things that are next to them.
"""

import re
from collections.abc import Iterable

SYMBOL = r"(?:[A-Za-zΑ-ωΩ|⌈⌊)}\]²√Δ'*]|\\\|)"
RELATION = r"(?:=|≥|≤|<|>|≈|≡)"
LIST = r"[−-]?\d(?:[\d.,/^]*\d)?(?:(?:, | and | or | to | … |, …, )[−-]?\d(?:[\d.,/^]*\d)?)*"
KINDS: dict[str, str] = {
    "blocks, which the tests run or which hold no results": r"^```.*?^```",
    "comments": r"<!--.*?-->",
    "code in a line": r"`[^`\n]*(?:\n[^`\n]+)?`",
    "addresses": r"\]\([^)\s]*\)|https?://\S+|arXiv:\S+|127\.0\.0\.1",
    "papers, their statements and our errata": (
        r"\bBHBK24\b|\bSHT23\b|\bE\d+\b|§\d[\d.]*|\b(?:19|20)\d\d\b"
        r"|\b(?:Theorem|Lemma|Corollary|Corollaries|Proposition|Fact|Figure|Appendix|Variant)s?\s+[A-H]?[.\d/]*\d"
        r"(?:(?:, | and | to |/)[A-H]?\.?\d[\d.]*\b)*|\b[A-H]\.\d+\b"
    ),
    "names of models, languages and kinds of numbers": (
        r"(?:\b\w+-)?\(\d+,\s*\w+\)|\b(?:GPT|Mamba|Apache)-[\d.]+|\b(?:u?int|float|bfloat)\d+\b|\bx86_64\b"
        r"|\bRWKV \d[\w ]*\d|\b\d+-bit (?:integers|floats)\b|\bGF\(\d+\)|\bH200\b|\b7B v0\.1\b"
    ),
    "choices of a symbol: N = 16, 64": rf"{SYMBOL}\s?{RELATION}\s?{LIST}",
    "formulas: 2^20, 6N + 6, γ/100, 64^1024": (
        r"\d+\^[\w(−-]+|(?<![\d.,])\d+[A-Za-zη√(]+|[A-Za-zγη√)²]+/\d+|\b\d/\d+\b|\blog2 \w+|±\d+"
    ),
    "words of the papers": r"\"[^\"\n]{1,40}\"|authors report at most [\d,]+",
    "lengths that are named as examples": r"\blength \d+",
    "shares of a hundred in words": r"\b\d of 100\b",
}
NUMBER = re.compile(r"(?<![\w.])\d(?:[\d.,]*\d)?(?![\w])")
"""A number that is no part of a word."""


def unanswered(content: str, spans: Iterable[tuple[int, int]]) -> list[str]:
    """Numbers outside of these spans that are of no kind above, with the line that each is in."""
    masked = content
    for start, end in spans:
        masked = masked[:start] + _blank(masked[start:end]) + masked[end:]
    for pattern in KINDS.values():
        masked = re.sub(pattern, lambda found: _blank(found[0]), masked, flags=re.MULTILINE | re.DOTALL)
    lines = content.splitlines()
    return [
        f"line {number}: {found[0]} in “{lines[number - 1].strip()}”"
        for number, line in enumerate(masked.splitlines(), start=1)
        for found in NUMBER.finditer(line)
        if len(found[0]) > 1
    ]


def _blank(text: str) -> str:
    """As many characters and lines, with nothing in them."""
    return re.sub(r"[^\n]", " ", text)
