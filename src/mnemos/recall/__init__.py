"""One question over everything: lexical, semantic and temporal recall, packed into a token budget."""
