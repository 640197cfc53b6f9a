"""What runs on the worker's device: answers, the ledger, and reports that may leave."""

from sottovoce.randomness import SystemRandomness
from sottovoce.worker.answer import Answer
from sottovoce.worker.budget import Budget
from sottovoce.worker.ledger import Ledger
from sottovoce.worker.responding import preview, respond

__all__ = ["Answer", "Budget", "Ledger", "SystemRandomness", "preview", "respond"]
