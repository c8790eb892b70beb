"""The Nordstrom–Robinson code (16, 256, 6), shortened and punctured.

Twice as many words as any linear code of its length and distance (Nordstrom and Robinson, 1967); it is the Kerdock code
with m = 4. Keeping the words that vanish at s places gives (16 − s, 2^(8−s), 6) for s ≤ 3, and dropping p further
places loses at most p units of distance: (13, 64, 5) holds 64 vectors within 1/4, and the Delsarte bound shows that no
narrower sign code does (BHBK24 Corollary 8.1 asks for O(log N) without a constant).
"""

from typing import final

from separatrix.arithmetic.codes.families._cosets import CosetFamily


@final
class NordstromRobinson(CosetFamily):
    """Eight cosets of the first-order Reed–Muller code of length 16."""

    name = "nordstrom-robinson"
    title = "the Nordstrom–Robinson code, shortened and punctured"
    variables = (4,)
    cubes = (0,)


FAMILY = NordstromRobinson()
