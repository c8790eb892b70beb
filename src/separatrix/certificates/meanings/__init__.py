"""What tasks mean, in the terms in which the checker reasons; written apart from the tasks' own code.

The checker derives the same kind of description from a weight file and compares. The tests compare these descriptions
with ``Task.solve`` on every input at small lengths, so that a certificate speaks about the task and not about them.
"""
