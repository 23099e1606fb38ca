"""Upheld as an MCP server over stdio: a thin face, no rule lives here.

The protocol is spoken by a small loop of our own (`docs/decisions/0004-mcp-stdio-loop.md` says why):
`tool.py` has the values, `wire.py` turns lines into messages and back, `conversation.py` answers
messages, `stdio.py` keeps the protocol's two streams to itself, `server.py` runs the loop. They know
nothing of findings. Nothing is imported here: a host waits a second for the whole server.
"""
