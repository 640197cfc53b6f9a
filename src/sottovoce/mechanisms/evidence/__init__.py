"""Reports as symbols with their exact law: what inference that knows the noise takes."""

from sottovoce.mechanisms.evidence.choosing import evidence

__all__ = ["evidence"]
