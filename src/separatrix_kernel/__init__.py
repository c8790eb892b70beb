"""The trusted proof checker: does this network answer every input of this specification rightly?

It reads a claim, a network and a proof from files, and nothing else; Python's standard library is all it needs.
``python -m separatrix_kernel FOLDER`` checks a folder. A file is loaded where a claim needs it, and nothing is imported
here: what one claim relies on is less than all. See docs/kernel.md.
"""
