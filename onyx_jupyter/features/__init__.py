"""What users get, one package each: `feature.py` declares all that it brings."""
