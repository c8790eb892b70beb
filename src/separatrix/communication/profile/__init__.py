"""Bring your own function: what any recurrent model and any one-layer Transformer need for it.

>>> from separatrix.communication.profile import profile
>>> equal = profile("equal halves", lambda x: len(x) % 2 == 0 and x[: len(x) // 2] == x[len(x) // 2 :], 8)
>>> equal.residuals.minimum_state_bits, equal.best.bits, equal.sparse.in_words()
(4, 5, 'all of 4 features of 2 bits hold')
"""

from separatrix.communication.profile.alphabet import Alphabet, parse_alphabet
from separatrix.communication.profile.engine import Profile, ProfileOptions, profile
from separatrix.communication.profile.function import FunctionError
from separatrix.communication.profile.limits import Limits
from separatrix.communication.profile.loading import load_function
from separatrix.communication.profile.record import as_record

__all__ = [
    "Alphabet",
    "FunctionError",
    "Limits",
    "Profile",
    "ProfileOptions",
    "as_record",
    "load_function",
    "parse_alphabet",
    "profile",
]
