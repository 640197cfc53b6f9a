"""How the members of a live session, workers and the dealer of a key, talk to its server."""

from sottovoce.connection.live.agreeing import agreed_terms
from sottovoce.connection.live.line import LiveLine, LiveLink
from sottovoce.connection.live.offers import GATHERING, LiveOffer, Noise

__all__ = ["GATHERING", "LiveLine", "LiveLink", "LiveOffer", "Noise", "agreed_terms"]
