"""How clients of both kinds, workers' and requesters', talk to a server."""

from sottovoce.connection.addresses import checked_address
from sottovoce.connection.connecting import Connection
from sottovoce.connection.foreign import plain

__all__ = ["Connection", "checked_address", "plain"]
