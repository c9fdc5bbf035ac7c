"""Finding text again, by words and by meaning: chunks, the index, ranking. What is indexed lies elsewhere, as files."""
