"""What the settings panel changes in onyx.json."""
