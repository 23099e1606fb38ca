"""Facts of a task context: providers, declarations and the order in which they count.

An argument of the call beats `UPHELD_FACTS`, which beats the confirmed `.upheld/facts.toml`, which beats what a
provider reads. What only the machine can know (`git.*`, `os`, `arch`, `session`) cannot be declared. A fact that nobody
can supply is unknown (None); nobody guesses. Only facts that were asked for are read. The TOML of the file is parsed
in `declared.py` when a person confirms it, never here.
"""

from __future__ import annotations

import _blake2
import os
import sys

from upheld.context import git, store
from upheld.context.deps import read_versions
from upheld.context.files import UnreadableError, read_file
from upheld.context.marks import ABSENT, PRESENT
from upheld.text import jsontext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import apsw

    from upheld.context.deps import Locked
    from upheld.context.marks import Marks

ARGUMENT = "argument"
VARIABLE = "UPHELD_FACTS"
FACTS_FILE = ".upheld/facts.toml"

DEADLINE_MS = 1000
MAX_FACTS_FILE = 64 * 1024
MAX_NAME = 64
MAX_VALUE = 200
MAX_DECLARED = 100
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
_SCOPED = frozenset("@/")
"""What the name of a dependency may hold besides: npm's scopes."""
DEPENDENCY = "dep."
_SYSTEMS = {"darwin": "macos", "win32": "windows"}
_MACHINES = {"aarch64": "arm64", "amd64": "x86_64"}


class Fact:
    """One known or unknown property of a task context.

    Args:
        name: Like `git.branch` or `backend`.
        value: A trimmed text, or None: unknown.
        source: Who supplied it: `git`, `system`, `host`, `argument`, `UPHELD_FACTS`, a file of the project; or, for an
            unknown one, why nobody did.
    """

    __slots__ = ("name", "source", "value")

    def __init__(self, name: str, value: str | None, source: str) -> None:
        self.name = name
        self.value = value
        self.source = source

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fact) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Fact({self.name!r}, {self.value!r}, {self.source!r})"

    def _key(self) -> tuple[str, str | None, str]:
        return self.name, self.value, self.source


class Declarations:
    """The declared facts that count, and what was wrong with the others.

    Args:
        facts: By name, the strongest source of each.
        problems: One sentence for each piece that was not used.
    """

    __slots__ = ("facts", "problems")

    def __init__(self, facts: dict[str, Fact], problems: tuple[str, ...]) -> None:
        self.facts = facts
        self.problems = problems


def is_provided(name: str) -> bool:
    """Say whether only a provider may supply a fact, so that declaring it is an error."""
    return name in {"os", "arch", "session"} or name.startswith("git.")


def check_fact(name: object, value: object) -> str:
    """Return what is wrong with a declared fact, continuing "NAME ...", or "" if it can be used."""
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME or not _is_name(name):
        return f"is no name of a fact: use at most {MAX_NAME} of a-z, 0-9, dot, underscore and hyphen"
    if is_provided(name):
        return "is read from the machine and cannot be declared"
    if not isinstance(value, str):
        return "has a value that is no text"
    if not 0 < len(value.strip()) <= MAX_VALUE or not value.strip().isprintable():
        return f"needs a printable value of 1 to {MAX_VALUE} characters"
    return ""


def _is_name(name: str) -> bool:
    return _NAME_CHARACTERS.issuperset(name) or (
        name.startswith(DEPENDENCY) and (_NAME_CHARACTERS | _SCOPED).issuperset(name)
    )


def accept_facts(pairs: Iterable[tuple[object, object]], source: str) -> Declarations:
    """Take the usable facts of one source; a bad one is left out and named."""
    facts: dict[str, Fact] = {}
    problems: list[str] = []
    for name, value in pairs:
        problem = check_fact(name, value)
        shown = name[:MAX_NAME] if isinstance(name, str) and name.isprintable() else "a name"
        if not problem and len(facts) >= MAX_DECLARED:
            problem = f"is more than {MAX_DECLARED} facts"
        if problem:
            problems.append(f"{source}: {shown} {problem}.")
        else:
            facts[str(name)] = Fact(str(name), str(value).strip(), source)
    return Declarations(facts, tuple(problems))


def parse_variable(text: str) -> Declarations:
    """Read `UPHELD_FACTS`: `name=value;name=value`, or a JSON object of texts."""
    text = text.strip()
    if text.startswith("{"):
        try:
            value = jsontext.loads(text)
        except ValueError:
            return Declarations({}, (f"{VARIABLE}: is no valid JSON; nothing of it was used.",))
        return accept_facts(value.items(), VARIABLE)
    pairs: list[tuple[object, object]] = []
    problems: list[str] = []
    for piece in text.split(";"):
        name, equals, value = piece.partition("=")
        if equals:
            pairs.append((name.strip(), value))
        elif piece.strip():
            problems.append(f"{VARIABLE}: a piece without = was not used. Write name=value;name=value.")
    found = accept_facts(pairs, VARIABLE)
    return Declarations(found.facts, found.problems + tuple(problems))


def read_confirmed(db: apsw.Connection, marks: Marks) -> Declarations:
    """Return the facts of `.upheld/facts.toml` as confirmed for this clone; none if it has changed since."""
    try:
        content = read_file(marks.root, FACTS_FILE, MAX_FACTS_FILE)
    except UnreadableError as exc:
        return Declarations({}, (f"{FACTS_FILE}: {exc}; its facts are unknown.",))
    if content is None:
        return Declarations({}, ())
    confirmed = store.find_confirmation(db, marks.place, "facts")
    if confirmed is None:
        return Declarations({}, (f"{FACTS_FILE}: not confirmed for this clone; its facts are unknown.",))
    if confirmed.digest != digest_facts(content):
        return Declarations(
            {}, (f"{FACTS_FILE}: changed since it was confirmed; its facts are unknown until confirmed again.",)
        )
    return accept_facts(jsontext.loads(confirmed.value).items(), FACTS_FILE)


def digest_facts(content: bytes) -> str:
    """Return the digest by which a confirmed file is recognised."""
    return _blake2.blake2b(content, digest_size=32).hexdigest()


def gather_declared(
    arguments: Mapping[str, str], *, environ: Mapping[str, str], confirmed: Declarations | None = None
) -> Declarations:
    """Merge the declared facts of a call, of `UPHELD_FACTS` and of the confirmed file; the first to name one wins."""
    merged: dict[str, Fact] = {}
    problems: tuple[str, ...] = ()
    for found in (
        accept_facts(arguments.items(), ARGUMENT),
        parse_variable(environ.get(VARIABLE, "")),
        confirmed or Declarations({}, ()),
    ):
        for name, fact in found.facts.items():
            merged.setdefault(name, fact)
        problems += found.problems
    return Declarations(merged, problems)


def read_facts(
    marks: Marks,
    names: Iterable[str],
    *,
    declared: Mapping[str, Fact],
    environ: Mapping[str, str],
    host: Mapping[str, str],
    deadline_ms: int = DEADLINE_MS,
) -> dict[str, Fact]:
    """Return the named facts, each known or unknown. `git.dirty` costs a git process, the others next to nothing.

    Args:
        marks: The marks of the place, which hold branch and commit.
        names: What to read; nothing else is.
        declared: As `gather_declared` merged them.
        environ: The environment to find git in.
        host: What the host said of itself: `session`.
        deadline_ms: How long git may take.
    """
    facts: dict[str, Fact] = {}
    asked = list(names)
    locked = [name for name in asked if name.startswith(DEPENDENCY) and name not in declared]
    if locked:
        for name, found in read_versions(marks.root, [name[len(DEPENDENCY) :] for name in locked]).items():
            facts[DEPENDENCY + name] = _locked(DEPENDENCY + name, found)
    for name in asked:
        if name in facts:
            continue
        if name in declared and not is_provided(name):
            facts[name] = declared[name]
        else:
            facts[name] = _provide(name, marks, environ, host, deadline_ms)
    return facts


def _provide(name: str, marks: Marks, environ: Mapping[str, str], host: Mapping[str, str], deadline_ms: int) -> Fact:
    if name.startswith("git."):
        return _git_fact(name, marks, environ, deadline_ms)
    if name == "os":
        return Fact(name, _SYSTEMS.get(sys.platform, sys.platform), "system")
    if name == "arch":
        machine = os.uname().machine.lower()
        return Fact(name, _MACHINES.get(machine, machine), "system")
    if name == "python":
        return _python(marks.root)
    if name in {"session", "task"}:
        value = host.get(name, "").strip()
        return Fact(name, value, "host") if value else Fact(name, None, "not told by the host")
    return Fact(name, None, "not declared")


def _locked(name: str, found: Locked) -> Fact:
    version = found.version
    if version is not None and check_fact(name, version):
        return Fact(name, None, f"{found.source} has no usable version")
    return Fact(name, version, found.source)


def _git_fact(name: str, marks: Marks, environ: Mapping[str, str], deadline_ms: int) -> Fact:
    if marks.state != PRESENT:
        return Fact(name, None, "no git here" if marks.state == ABSENT else marks.problem)
    if name == "git.dirty" and not marks.bare:
        return _dirty(name, marks, environ, deadline_ms)
    known = {"git.branch": marks.branch, "git.commit": marks.commit}
    return Fact(name, known.get(name), "git")


def _dirty(name: str, marks: Marks, environ: Mapping[str, str], deadline_ms: int) -> Fact:
    reply = git.run(
        ["status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=none"],
        marks.root,
        deadline_ms,
        environ=environ,
    )
    if reply.too_long:
        return Fact(name, "true", "git")
    if not reply.ok:
        return Fact(name, None, "git did not answer in time" if reply.timed_out else "git could not tell")
    return Fact(name, "true" if reply.out else "false", "git")


def _python(root: str) -> Fact:
    for source, key in ((".venv/pyvenv.cfg", "version"), (".venv/pyvenv.cfg", "version_info"), (".python-version", "")):
        try:
            text = (read_file(root, source, 4096) or b"").decode("utf-8", "replace")
        except UnreadableError:
            continue
        version = _value_of(text, key) if key else _first_line(text)
        if version and not check_fact("python", version):
            return Fact("python", version, source)
    return Fact("python", None, "no .venv and no .python-version")


def _value_of(text: str, key: str) -> str:
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals and name.strip() == key:
            return value.strip()
    return ""


def _first_line(text: str) -> str:
    for line in text.splitlines():
        stripped = line.partition("#")[0].strip()
        # A name of a virtual environment may stand there too; it is no version.
        if stripped:
            return stripped if stripped[0].isdigit() else ""
    return ""
