"""What each turn changed in notebooks, kept on disk, and how it is taken back. It never shows anything to a person."""
