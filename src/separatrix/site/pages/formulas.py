"""Formulas that results write as text, such as ``⌊(N - 1)/2⌋²`` or ``h_{t-1}``, as MathML, which browsers set.

Subscripts follow ``_``, exponents ``^``, each a word or a group in brackets; raised and lowered signs are read as well.
A slash without spaces is a fraction. What is not a formula stays text.
"""

import re
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀ", "0123456789−T", strict=True))
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
PAIRS = {"(": ")", "[": "]", "{": "}", "⌊": "⌋", "⌈": "⌉", "|": "|"}
FUNCTIONS = {"log", "log2", "min", "max", "exp"}
SYMBOLS = set("NMKHLTmpqndkgΣΩγ")
"""Letters that are a formula by themselves in a sentence."""
LETTER = r"[^\W\d_]\u0303?(?:'(?!s))?"
TOKEN = re.compile(
    r"(?P<word>'s\b|Appendix \w+(?:\.\d+)*|"
    rf"[^\W_]*[^\W\d_]{{2,}}\d*(?:-(?:\w+|\([^()]*\)))*|\w+-[^\W\d_]{{2,}}|[^\W\d_]\d+)"
    rf"|(?P<raised>[{''.join(RAISED)}]+)|(?P<lowered>[{''.join(LOWERED)}]+)"
    rf"|(?P<name>{LETTER})|(?P<number>\d[\d,.]*\d|\d)|(?P<space>\s+)|(?P<sign>.)"
)
STRONG = set("=≥≤+·/^_⌊⌈√∈←⊙∘")
"""Signs that make their surroundings a formula."""
BREAKS = set("=≥≤+←⊙∘−-")
SIGNS = STRONG | set("-−*…()[]{}|⌋⌉,")


def _tokens(text: str) -> list[tuple[str, str]]:
    """Return kinds and texts; products of letters, such as ``mpH``, are names one after the other.

    >>> [value for _, value in _tokens("mp ≥ log2 N")]
    ['m', 'p', ' ', '≥', ' ', 'log2', ' ', 'N']
    """
    found: list[tuple[str, str]] = []
    for match in TOKEN.finditer(text.replace("<=", "≤")):
        kind, value = str(match.lastgroup), match[0]
        raised = re.fullmatch(rf"(\w+?)([{''.join(RAISED)}]+)", value) if kind == "word" else None
        if raised:
            found += [*_tokens(raised[1]), ("raised", raised[2])]
        elif kind == "word" and set(value) <= set("LHmpTd") and len(value) <= 4:
            found += [("name", letter) for letter in value]
        else:
            found.append((kind, value))
    return found


def prose(text: str) -> "Markup":
    """Set the formulas of a sentence.

    >>> str(prose("a model has m ≥ N/p")).partition("<math>")[0]
    'a model has '
    """
    from markupsafe import Markup, escape

    made = Markup("")
    for formula, group in groupby(_tokens(text), lambda token: _part(*token)):
        run = list(group)
        plain = "".join(value for _, value in run)
        if formula:
            before, core, after = _trimmed(run)
            named = any(kind in ("name", "number") for kind, _ in core)
            if named and any(value in STRONG or value in SYMBOLS for _, value in core):
                made += escape("".join(before)) + _math(core) + escape("".join(after))
                continue
        made += escape(plain)
    return made


def equation(text: str) -> "Markup":
    """Set a whole text as one formula; its longer words stay upright.

    >>> str(equation("N^-c"))
    '<math><msup><mi>N</mi><mrow><mo>−</mo><mi>c</mi></mrow></msup></math>'
    """
    return _math(_tokens(text))


def _part(kind: str, value: str) -> bool:
    """Tell whether a token can be part of a formula in a sentence."""
    if kind == "word":
        return value in FUNCTIONS
    if kind == "name":
        return value not in "aAI"
    return kind != "sign" or value in SIGNS


def _trimmed(run: list[tuple[str, str]]) -> tuple[list[str], list[tuple[str, str]], list[str]]:
    """Split a run into spaces and brackets before it, the formula, and what follows a bracket that nothing opens."""
    open_signs: list[int] = []
    end = len(run)
    for place, (_, value) in enumerate(run):
        if value in PAIRS and not (value == "|" and open_signs and run[open_signs[-1]][1] == "|"):
            open_signs.append(place)
        elif value in PAIRS.values():
            if not open_signs:
                end = place
                break
            open_signs.pop()
    start = 0
    if open_signs:
        # A bracket that opens prose ends the formula, one at the very start is left out.
        first = open_signs[0]
        before = any(kind not in ("space", "sign") for kind, _ in run[:first])
        start, end = (start, first) if before else (first + 1, end)
    while start < end and (run[start][0] == "space" or run[start][1] in ",-"):
        start += 1
    while end > start and (run[end - 1][0] == "space" or run[end - 1][1] in ",-"):
        end -= 1
    return [value for _, value in run[:start]], run[start:end], [value for _, value in run[end:]]


def _math(tokens: list[tuple[str, str]]) -> "Markup":
    from markupsafe import Markup

    made = ""
    for line in _breakable(tokens):
        row = _Reader(line).row()
        if made and line[0][1] in BREAKS:
            made += "<wbr>"
            row = row.replace("<mo>", '<mo form="infix">', 1)
        elif made:
            made += " "
        made += f"<math>{row}</math>"
    return Markup(made)


def _breakable(tokens: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Split a formula at spaces before a sign or a word, for a browser breaks no line inside one: outside brackets, and
    inside those of which no fraction, exponent or index is made."""
    values = [value for _, value in tokens]
    whole: list[bool] = []
    lines: list[list[tuple[str, str]]] = [[]]
    for place, (kind, value) in enumerate(tokens):
        following, next_value = tokens[place + 1] if place + 1 < len(tokens) else ("", "")
        if value in "([{⌊⌈":
            after = next((at for at in range(place, len(values)) if _closes(values, place, at)), place) + 1
            scripted = after < len(tokens) and (values[after] in "/^_" or tokens[after][0] == "raised")
            whole.append(value == "{" or scripted or (place > 0 and values[place - 1] in "/^_"))
        elif value in ")]}⌋⌉" and whole:
            whole.pop()
        word = following == "word" and next_value not in FUNCTIONS
        apart = kind == "space" and lines[-1] and (lines[-1][-1][1] == "," or next_value in BREAKS or word)
        if apart and not any(whole):
            lines.append([])
        else:
            lines[-1].append((kind, value))
    return [line for line in lines if line]


def _closes(values: list[str], first: int, last: int) -> bool:
    """Tell whether the bracket at one place closes at another."""
    inside = values[first : last + 1]
    return inside.count(values[first]) == inside.count(PAIRS[values[first]])


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens, self.place = tokens, 0

    def peek(self) -> str:
        return self.tokens[self.place][1] if self.place < len(self.tokens) else ""

    def row(self, end: str = "") -> str:
        """Read until a sign, which is read as well."""
        made: list[str] = []
        while self.place < len(self.tokens) and not (end and self.peek() == end):
            if self.tokens[self.place][0] == "space":
                self.place += 1
                apart = made and not made[-1].endswith("</mo>") and self.starts()
                made += ['<mspace width="0.22em"/>'] if apart else []
            elif self.peek() == "/" and made and self.spaceless():
                self.place += 1
                made[-1] = f"<mfrac>{_bare(made[-1])}{_bare(self.atom())}</mfrac>"
            else:
                made.append(self.atom())
        self.place += bool(end)
        return "".join(made)

    def starts(self) -> bool:
        """Tell whether a new thing follows, and not a sign between two."""
        return self.place < len(self.tokens) and (
            self.tokens[self.place][0] in ("word", "name", "number") or self.peek() in "(["
        )

    def spaceless(self) -> bool:
        around = self.tokens[self.place - 1 : self.place + 2]
        return len(around) == 3 and all(kind != "space" for kind, _ in around)

    def atom(self) -> str:
        """Read one thing with what is raised or lowered at it, and what it is applied to."""
        if self.place >= len(self.tokens):
            return ""
        kind, value = self.tokens[self.place]
        self.place += 1
        if value in PAIRS and PAIRS[value] in [each for _, each in self.tokens[self.place :]]:
            inside = self.row(PAIRS[value])
            made = f'<mrow><mo stretchy="false">{value}</mo>{inside}<mo stretchy="false">{PAIRS[value]}</mo></mrow>'
        elif value == "√":
            made = f"<msqrt>{self.atom()}</msqrt>"
        elif value == "log2":
            made = "<msub><mi>log</mi><mn>2</mn></msub>"
        elif kind in ("number", "space"):
            made = f"<mn>{value}</mn>"
        elif kind == "name":
            upright = ' mathvariant="normal"' if value[0] in "ΓΔΘΛΣΦΨΩ" else ""
            made = f"<mi{upright}>{value.replace(chr(39), '′')}</mi>"
        elif kind == "word":
            made = f'<mi mathvariant="normal">{_safe(value)}</mi>'
        elif value in PAIRS or value in PAIRS.values():
            made = f'<mo stretchy="false">{value}</mo>'
        else:
            made = f"<mo>{_safe({'-': '−', '*': '∗'}.get(value, value))}</mo>"
        below, above = self.scripts()
        if below or above:
            tag = "msubsup" if below and above else "msub" if below else "msup"
            made = f"<{tag}>{made}{below}{above}</{tag}>"
        if kind in ("name", "word") and self.peek() in ("(", "["):
            made = f"<mrow>{made}{self.atom()}</mrow>"
        elif value in FUNCTIONS and self.place < len(self.tokens) and self.tokens[self.place][0] == "space":
            self.place += 1
            made = f'<mrow>{made}<mspace width="0.17em"/>{self.atom()}</mrow>'
        return made

    def scripts(self) -> tuple[str, str]:
        below = above = ""
        while self.place < len(self.tokens):
            kind, value = self.tokens[self.place]
            if kind == "lowered":
                below += "".join(f"<mn>{LOWERED[each]}</mn>" for each in value)
                self.place += 1
            elif kind == "raised":
                signs = (("mi" if each == "ᵀ" else "mn", RAISED[each]) for each in value)
                above = f"<mrow>{''.join(f'<{tag}>{sign}</{tag}>' for tag, sign in signs)}</mrow>"
                self.place += 1
            elif value in ("_", "^"):
                self.place += 1
                if self.peek() == "{" or (value == "^" and self.peek() == "("):
                    closing = PAIRS[self.peek()]
                    self.place += 1
                    read = f"<mrow>{self.row(closing)}</mrow>"
                else:
                    read = self.script()
                    if value == "^" and self.peek() == "(":
                        read = f"<mrow>{read}{self.atom()}</mrow>"
                below, above = (read, above) if value == "_" else (below, read)
            else:
                break
        return below, above

    def script(self) -> str:
        """Read a word below or above a letter without what follows it; letters are indices one after the other."""
        kind, value = self.tokens[self.place] if self.place < len(self.tokens) else ("sign", "")
        self.place += 1
        if value in ("-", "−"):
            return f"<mrow><mo>−</mo>{self.script()}</mrow>"
        tag = "mn" if kind == "number" else "mi"
        return f"<{tag}>{_safe(value)}</{tag}>"


def _bare(made: str) -> str:
    """Leave out the brackets around a whole numerator or denominator."""
    inside = re.fullmatch(r'<mrow><mo stretchy="false">\(</mo>(.*)<mo stretchy="false">\)</mo></mrow>', made)
    return f"<mrow>{inside[1]}</mrow>" if inside and inside[1].count("(</mo>") == inside[1].count(")</mo>") else made


def _safe(value: str) -> str:
    return {"<": "&lt;", ">": "&gt;", "&": "&amp;"}.get(value, value)
