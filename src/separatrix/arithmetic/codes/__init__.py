"""Sign codes: N vectors with entries ±1/√k and inner products bounded exactly (BHBK24 Lemmas 2 and 3).

The one public door of the package: :func:`sign_code` gives the narrowest known code, :func:`delsarte_width` how narrow
any code could be, :func:`code_table` both side by side with the paper's random draw.
"""

from separatrix.arithmetic.codes.catalog import families
from separatrix.arithmetic.codes.choose import code_from_description, sign_code
from separatrix.arithmetic.codes.delsarte import DelsarteBound, delsarte_width
from separatrix.arithmetic.codes.family import CodeFamily
from separatrix.arithmetic.codes.random_draw import paper_width
from separatrix.arithmetic.codes.sign_code import SignCode
from separatrix.arithmetic.codes.table import CodeRow, code_table

__all__ = [
    "CodeFamily",
    "CodeRow",
    "DelsarteBound",
    "SignCode",
    "code_from_description",
    "code_table",
    "delsarte_width",
    "families",
    "paper_width",
    "sign_code",
]
