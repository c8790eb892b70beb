"""The words that the page explains, with their meanings from the documentation's glossary."""

import re

from separatrix.errors import SeparatrixError
from separatrix.site.html import asset

SHOWN = {
    "verdict": "certified, refuted, not proved",
    "N": "N",
    "d": "d",
    "eta": "η, gain",
    "kc": "Kc",
    "code": "sign code, addresses",
    "gamma": "γ",
    "digits": "digits",
    "circle": "circle, circles:J",
    "attention": "softmax, hard, leftmost, linear, relu",
    "third-order": "third-order attention",
    "proof": "repaired, paper, …",
    "margin": "margin",
    "lead": "lead of a best key",
    "slots": "slots",
    "size": "size in bits",
    "m": "m in a protocol",
    "partition": "partition",
    "versions": "repaired, as-written, token, queries",
    "fnn": "FNN",
    "sources": "BHBK24, SHT23",
}
"""By the key that elements of the page name (``data-word``): the word in the first column of the glossary."""


def words() -> list[dict[str, str]]:
    """Return every word that the page explains: its key, the word, and what it means, as plain text.

    >>> [each["meaning"] for each in words() if each["key"] == "slots"]
    ['named parts of the d numbers at a position, such as the symbol or the address']
    """
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", asset("glossary.md"), flags=re.MULTILINE)
    meanings = {plain(word): plain(meaning) for word, meaning in rows}
    missing = [word for word in SHOWN.values() if word not in meanings]
    if missing:
        raise SeparatrixError(
            f"the glossary has no row for {missing[0]!r}; add one, or take it out of the page's words"
        )
    return [{"key": key, "word": word, "meaning": meanings[word]} for key, word in SHOWN.items()]


def plain(text: str) -> str:
    """Return a line of Markdown without its marks and without links in parentheses.

    >>> plain("the `gain` of *one* [head](heads.md) ([codes](codes.md))")
    'the gain of one head'
    """
    without = re.sub(r" \(\[[^]]*\]\([^)]*\)\)", "", text)
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", without).replace("`", "").replace("*", "")
