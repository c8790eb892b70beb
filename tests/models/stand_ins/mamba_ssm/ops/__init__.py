"""As in the package."""
