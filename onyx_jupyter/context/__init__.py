"""What goes along with a message: attached cells and files, what memory says to it, the notebook in front."""
