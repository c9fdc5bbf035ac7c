"""The user-facing features, one package each; its `feature.py` declares everything it provides."""
