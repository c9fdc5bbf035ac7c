"""What is sent along with a message: attached cells and files, passages from memory, the active notebook."""
