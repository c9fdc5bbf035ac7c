"""The version of the package; it is written here alone."""

__version__ = "0.1.0"
