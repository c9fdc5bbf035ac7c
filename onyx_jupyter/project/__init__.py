"""What a project in the server's root brings along for Onyx, and what a person said of it. It never runs anything."""
