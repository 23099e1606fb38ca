"""The one result shape: `{ok, data, warnings, error}`, with `command` in front for the CLI."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from upheld.errors import UpheldError


def succeed(data: Mapping[str, object], warnings: Sequence[str] = (), *, command: str = "") -> dict[str, object]:
    """Return the envelope of a result."""
    return _with_command(command, {"ok": True, "data": dict(data), "warnings": list(warnings), "error": None})


def refuse(error: UpheldError, *, command: str = "") -> dict[str, object]:
    """Return the envelope of a refusal."""
    return _with_command(command, {"ok": False, "data": None, "warnings": [], "error": dict(error.as_data())})


def _with_command(command: str, envelope: dict[str, object]) -> dict[str, object]:
    return {"command": command, **envelope} if command else envelope
