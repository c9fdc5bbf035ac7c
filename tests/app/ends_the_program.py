"""A package that takes being imported for being run."""

raise SystemExit(3)
