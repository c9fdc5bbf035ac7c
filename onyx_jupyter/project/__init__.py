"""What a project in the server's root provides for Onyx, and what the user decided about it."""
