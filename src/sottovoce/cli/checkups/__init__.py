"""What `sottovoce doctor` looks at: the machine, the storage, and the site as others see it."""
