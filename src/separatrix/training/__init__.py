"""Training: runs as frozen specifications, trained together, recorded, resumed."""
