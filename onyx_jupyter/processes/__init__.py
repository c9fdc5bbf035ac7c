"""Commands that run: their output, their end, and whoever sees to it that nothing stays behind. It asks nobody."""
