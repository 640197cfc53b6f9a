"""Code for the worker's device: answers, the ledger, and reports to send."""

from sottovoce.model.budget import Budget
from sottovoce.randomness import SystemRandomness
from sottovoce.worker.answers import Answer, preview, randomize, respond
from sottovoce.worker.ledger import Ledger

__all__ = ["Answer", "Budget", "Ledger", "SystemRandomness", "preview", "randomize", "respond"]
