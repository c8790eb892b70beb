"""The static site: pages made from the results of the sections alone. See ``README.md`` in this folder."""
