"""The explorer: a local server for one user, and a page to bend constructions, protocols and trained attention.

``app`` joins everything into one application, ``security`` refuses other origins, ``requests`` and ``replies`` are the
records that arrive and leave, ``computing`` runs each computation in a process that can be killed. ``static`` holds
the page: plain ES modules. Only this package's submodules import FastAPI.
"""
