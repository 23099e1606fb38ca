"""The settings there are, and what counts in a project: what was set for it, else everywhere, else the default.

The hook reads this at every prompt, so a stored value that is none (any more) counts as not set and stops nothing.
Setting one is in `configuring`.
"""

from __future__ import annotations

from upheld.errors import InvalidArgumentError
from upheld.findings.labels import LANGUAGES
from upheld.findings.model import FOREVER
from upheld.findings.retrieval import MAX_ALWAYS, MAX_PROMPT_ITEMS, MAX_PROMPT_SIZE
from upheld.findings.store import settings as store

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw


class Setting:
    """One setting.

    Args:
        name: As people write it.
        default: Its value where nobody set it; None: what the host allows.
        doc: One line for people.
        choices: The values of a choice; empty for a number.
        least: The smallest number.
        most: The largest number.
    """

    __slots__ = ("choices", "default", "doc", "least", "most", "name")

    def __init__(
        self,
        name: str,
        *,
        default: str | int | None,
        doc: str,
        choices: tuple[str, ...] = (),
        least: int = 0,
        most: int = 0,
    ) -> None:
        self.name = name
        self.default = default
        self.doc = doc
        self.choices = choices
        self.least = least
        self.most = most

    @property
    def kind(self) -> str:
        """`choice` or `number`."""
        return "choice" if self.choices else "number"

    @property
    def right(self) -> str:
        """What a value must be, a sentence."""
        if self.choices:
            return f"Give {' or '.join(self.choices)}."
        return f"Give a whole number from {self.least} to {self.most}."

    def read(self, text: str) -> str | int | None:
        """Return the value that a text stands for, None if it is none."""
        if self.choices:
            return text if text in self.choices else None
        if not (text.isascii() and text.isdigit() and len(text) <= 9):
            return None
        return int(text) if self.least <= int(text) <= self.most else None


LANGUAGE = Setting("language", default="en", doc="the language of what a model is handed", choices=tuple(LANGUAGES))
PROMPT_ITEMS = Setting(
    "prompt-items", default=MAX_PROMPT_ITEMS, most=10, doc="how many findings a prompt gets at the most"
)
PROMPT_BYTES = Setting(
    "prompt-bytes",
    default=MAX_PROMPT_SIZE,
    least=300,
    most=4000,
    doc="how large a prompt's block may be, in what the host counts (Codex: bytes)",
)
START_BYTES = Setting(
    "start-bytes",
    default=None,
    least=300,
    most=100_000,
    doc="how large the block of a start or a compaction may be; never more than the host allows beside a prompt's",
)
ALWAYS_ITEMS = Setting(
    "always-items", default=MAX_ALWAYS, most=50, doc="how many findings of policy always a block holds at the most"
)
SETTINGS = {one.name: one for one in (LANGUAGE, PROMPT_ITEMS, PROMPT_BYTES, START_BYTES, ALWAYS_ITEMS)}
"""By name, in the order in which they are listed."""

PAUSED_UNTIL = "paused-until"
"""Kept beside the settings and set by pausing only."""


class Settings:
    """What counts in one place.

    Args:
        rows: What is stored for it, as `store.find_settings` returns it.

    Attributes:
        values: By name; every setting has one.
        origins: By name: `default`, `everywhere` or `project`.
        pauses: By where (`everywhere`, `project`) until when.
    """

    __slots__ = ("origins", "pauses", "values")

    def __init__(self, rows: list[tuple[int, str, str]]) -> None:
        self.values: dict[str, str | int | None] = {one.name: one.default for one in SETTINGS.values()}
        self.origins: dict[str, str] = dict.fromkeys(SETTINGS, "default")
        self.pauses: dict[str, str] = {}
        for project_id, name, text in rows:
            origin = "everywhere" if project_id == store.EVERYWHERE else "project"
            if name == PAUSED_UNTIL:
                self.pauses[origin] = text
            elif name in SETTINGS and (value := SETTINGS[name].read(text)) is not None:
                self.values[name] = value
                self.origins[name] = origin

    def text(self, setting: Setting) -> str:
        """Return the value of a choice."""
        return str(self.values[setting.name])

    def number(self, setting: Setting) -> int:
        """Return the value of a number that has a default."""
        value = self.values[setting.name]
        return value if isinstance(value, int) else setting.least

    def paused_until(self, now: str) -> str:
        """Return until when nothing is handed out here, `forever` for until somebody ends it; "" if it is not paused.

        A pause everywhere and one of this project: the later one counts. One that is over is none.
        """
        running = [until for until in self.pauses.values() if until == FOREVER or until > now]
        return FOREVER if FOREVER in running else max(running, default="")

    def limit_prompt(self) -> int:
        """Return the largest block of a prompt, in what the host counts."""
        return self.number(PROMPT_BYTES)

    def limit_start(self, host_limit: int) -> int:
        """Return the largest block of anything else: a start and the prompt of the same turn share the host's limit."""
        most = host_limit - self.limit_prompt()
        wanted = self.values[START_BYTES.name]
        return min(wanted, most) if isinstance(wanted, int) else most


DEFAULTS = Settings([])


def read_settings(db: apsw.Connection, project_id: int = store.EVERYWHERE) -> Settings:
    """Return what counts in a project, or where there is none."""
    return Settings(store.find_settings(db, project_id))


def get_setting(name: str) -> Setting:
    """Return the setting of that name.

    Raises:
        InvalidArgumentError: There is none.
    """
    if name == PAUSED_UNTIL:
        raise InvalidArgumentError("name", f"is {PAUSED_UNTIL}, which is no setting", "Use `upheld pause`.")
    if name not in SETTINGS:
        raise InvalidArgumentError("name", "is no setting", f"Give one of {', '.join(SETTINGS)}.")
    return SETTINGS[name]
