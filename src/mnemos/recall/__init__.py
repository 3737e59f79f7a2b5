"""Recall: one lexical, semantic and temporal search of everything, packed into a token budget."""
