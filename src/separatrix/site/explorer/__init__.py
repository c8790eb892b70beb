"""The explorer: a local server and a page to play with constructions, protocols and training runs.

Where things are: ``app`` joins everything into one application, ``guard`` keeps strangers out, ``requests`` and
``replies`` say what may be asked and what is answered, ``crew`` runs computations in processes that can be ended,
``computations`` are what those processes do, ``training`` starts runs. ``static`` holds the page: plain ES modules.

Only this package's submodules import FastAPI, so that the rest of the atlas needs none.
"""
