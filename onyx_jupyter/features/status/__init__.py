"""The health of Onyx."""
