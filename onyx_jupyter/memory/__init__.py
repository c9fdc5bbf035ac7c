"""What an agent remembers: Markdown files that the user owns. Anything derived from them can be rebuilt."""
