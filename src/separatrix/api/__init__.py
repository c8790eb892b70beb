"""The functions of ``import separatrix as sx``: one for each question, each with one frozen record as its answer.

A verb of the command line reads its options, calls one of these and shows the record; a notebook shows the same record
as HTML.
"""

from separatrix.facade import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
