"""Code for keyholders: keys that never leave the machine, and the steps to open one total."""
