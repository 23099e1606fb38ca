"""Times that people give: `2h`, `3d`, or an ISO 8601 time, as the moment until which something counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from upheld.errors import InvalidArgumentError

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_RIGHT = "Give a time like 2h, 3d or 2w from now, or 2026-12-31T18:00:00Z."
_LONGEST = 3660


def parse_until(argument: str, text: str, now: str) -> str:
    """Return a moment after now as ISO 8601 in UTC with milliseconds, the form in which times are kept.

    Args:
        argument: What is blamed.
        text: As a person wrote it.
        now: The time, in the form that is returned.

    Raises:
        InvalidArgumentError: It is no time, or is past.
    """
    begin = datetime.fromisoformat(now)
    moment = _after(begin, text) or _read(text)
    if moment is None:
        raise InvalidArgumentError(argument, "is no time", _RIGHT)
    if moment <= begin:
        raise InvalidArgumentError(argument, "is past", _RIGHT)
    if moment > begin + timedelta(days=_LONGEST):
        raise InvalidArgumentError(argument, "is more than ten years away", "Leave it out for good.")
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def _after(begin: datetime, text: str) -> datetime | None:
    number, unit = text[:-1], text[-1:]
    if unit not in _UNITS or not (number.isascii() and number.isdigit()) or len(number) > 5:
        return None
    return begin + timedelta(**{_UNITS[unit]: int(number)})


def _read(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
