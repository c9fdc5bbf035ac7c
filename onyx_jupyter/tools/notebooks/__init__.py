"""What the notebook tools share: what a model has seen of cells, what a change would take away, and outlines."""
