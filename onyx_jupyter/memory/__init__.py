"""What an agent remembers: Markdown files that the user owns. Whatever is derived from them can be made again."""
