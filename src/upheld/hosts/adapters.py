"""Which hosts there are: a name and its module's functions. A new host is one more entry."""

from __future__ import annotations

from upheld.hosts.codex import transcript as codex_transcript
from upheld.hosts.codex import wire as codex_wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from upheld.hosts.event import HostEvent


class Adapter:
    """What answering a host's events takes.

    Args:
        name: As in the hook's command line.
        read_event: Payload to event, None for nothing to do.
        write_context: Event and text to the host's output.
        find_last_prompt: Path of the host's log to the last prompt in it.
        limit: The largest context, in the host's unit.
        unit: `utf8` bytes or `utf16` units.
    """

    __slots__ = ("find_last_prompt", "limit", "name", "read_event", "unit", "write_context")

    def __init__(
        self,
        name: str,
        *,
        read_event: Callable[[bytes], HostEvent | None],
        write_context: Callable[[HostEvent, str], bytes],
        find_last_prompt: Callable[[str], str],
        limit: int,
        unit: str,
    ) -> None:
        self.name = name
        self.read_event = read_event
        self.write_context = write_context
        self.find_last_prompt = find_last_prompt
        self.limit = limit
        self.unit = unit


ADAPTERS = {
    codex_wire.NAME: Adapter(
        codex_wire.NAME,
        read_event=codex_wire.read_event,
        write_context=codex_wire.write_context,
        find_last_prompt=codex_transcript.find_last_prompt,
        limit=codex_wire.CONTEXT_LIMIT,
        unit="utf8",
    )
}
