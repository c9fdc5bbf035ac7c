"""What an answer needs is loaded while its person still writes."""
