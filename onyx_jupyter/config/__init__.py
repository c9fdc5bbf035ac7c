"""What the user set: onyx.json, the environment and the defaults. It never reads anything else from disk."""
