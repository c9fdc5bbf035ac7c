"""Runs commands: their output, their end, and cleaning up the processes that they leave behind."""
