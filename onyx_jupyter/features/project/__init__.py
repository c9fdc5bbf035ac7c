"""What the project in the server's root tells Onyx to do, and whether a person wants that."""
