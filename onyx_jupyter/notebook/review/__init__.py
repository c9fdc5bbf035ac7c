"""Records on disk what each turn changed in notebooks, and reverts it."""
