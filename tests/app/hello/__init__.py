"""The smallest feature that brings one of everything: docs/architecture.md shows it."""
