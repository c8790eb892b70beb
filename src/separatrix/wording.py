"""Numbers of things in words, as tables and messages say them."""


def counted(number: int, thing: str) -> str:
    """A number of things.

    >>> counted(1, "bit"), counted(3, "bit"), counted(1200, "run")
    ('1 bit', '3 bits', '1200 runs')
    """
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def in_words(seconds: float) -> str:
    """Return a duration for people.

    >>> in_words(0.2), in_words(42.4), in_words(600), in_words(9000), in_words(400000)
    ('under 1 s', '42 s', '10 min', '2.5 h', '4.6 days')
    """
    if seconds < 100:
        return f"{seconds:.0f} s" if seconds >= 1 else "under 1 s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172800 else f"{seconds / 86400:.1f} days"
