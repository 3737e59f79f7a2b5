"""Parts that adapters for frameworks share: opening, histories, recall, files."""
