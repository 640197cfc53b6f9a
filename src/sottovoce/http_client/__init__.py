"""How clients of both kinds, workers' and requesters', talk to a server."""

from sottovoce.http_client.addresses import checked_address
from sottovoce.http_client.connection import Connection
from sottovoce.http_client.replies import printable

__all__ = ["Connection", "checked_address", "printable"]
