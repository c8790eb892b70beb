"""Methods of proof, one file each; files with an underscore are shared.

What has to be trusted for a certificate is the checker, its method and all that the method imports from this room. That
must stay below 700 lines of code for each method (``tests/certificates/test_trusted_code.py``). So a faster way for
larger lengths is a method of its own with its own file, not a branch in an existing one.
"""
