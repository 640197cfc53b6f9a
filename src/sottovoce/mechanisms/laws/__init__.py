"""Integer probability laws that several mechanisms use."""
