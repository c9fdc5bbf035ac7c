"""Benchmarks of finding again what was told."""
