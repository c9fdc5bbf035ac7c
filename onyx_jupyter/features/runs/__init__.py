"""The answers that are being made."""
