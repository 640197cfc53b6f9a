"""Commands of a worker: answer, weigh, and the check of the page."""
