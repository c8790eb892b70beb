"""Networks as torch modules: made from exact ones (``from_network``), loaded from files, exported to other tools.

``from_network`` and ``lens`` need the exact networks and with them python-flint, so they are imported by their own
names; the rest needs torch and safetensors alone.
"""

from separatrix.models.assemble import NetworkModule, RecurrentModule, TransformerModule
from separatrix.models.exported import load_exported, save_exported

__all__ = ["NetworkModule", "RecurrentModule", "TransformerModule", "load_exported", "save_exported"]
