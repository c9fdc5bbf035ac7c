"""The configuration: onyx.json, the environment and the defaults."""
