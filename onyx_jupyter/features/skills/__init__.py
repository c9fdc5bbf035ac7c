"""Skills: found, trusted, run."""
