"""Numbers of things in words, as tables and messages say them."""


def counted(number: int, thing: str) -> str:
    """A number of things.

    >>> counted(1, "bit"), counted(3, "bit"), counted(1200, "run")
    ('1 bit', '3 bits', '1200 runs')
    """
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
