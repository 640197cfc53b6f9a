"""Integer probability laws that mechanisms share."""
