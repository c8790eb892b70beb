"""The words that the page uses and does not explain where they stand, with their meanings from the glossary.

The glossary is the documentation's own text, which lies among the site's files; here only is said which of its rows the
page shows, and under which key its elements name them (``data-word``).
"""

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
    "goal": "goal",
    "sources": "BHBK24, SHT23",
}
"""By key: the word as it stands in the first column of the glossary, without its marks."""


def words() -> list[dict[str, str]]:
    """Every word that the page shows: its key, the word, and what it means, as plain text.

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
    """A line of Markdown without its marks; a link in parentheses of its own is left out.

    >>> plain("the `gain` of *one* [head](heads.md) ([codes](codes.md))")
    'the gain of one head'
    """
    without = re.sub(r" \(\[[^]]*\]\([^)]*\)\)", "", text)
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", without).replace("`", "").replace("*", "")
