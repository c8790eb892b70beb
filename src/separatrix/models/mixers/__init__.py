"""The torch modules of the architectures: one file for each kind of layer, imported where a model is built."""
