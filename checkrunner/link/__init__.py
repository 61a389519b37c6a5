"""One host: the wire codec, the bootstrap payload, the session, the transports."""
