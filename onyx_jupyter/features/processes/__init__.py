"""Shell commands and background processes."""
