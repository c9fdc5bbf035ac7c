"""Finds text by words and by meaning: chunks, the index, ranking. The indexed texts themselves are files elsewhere."""
