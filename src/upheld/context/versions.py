"""Versions and ranges of them, for `dep.*` facts: PEP 440 for Python packages, semver for npm ones. Pure and light.

In which of the two a range is written shows in its syntax. `,` `~=` `==` `!=` `===` are PEP 440; `^` `~` `||`, a space
between comparisons, a hyphen range and an `x` are semver. What both have (`>=1.2`) is read as PEP 440 where the version
is one, else as semver. A version that can't be read is in no range that compares: nobody guesses.

PEP 440: packaging.python.org/en/latest/specifications/version-specifiers. A locked pre-release counts as what it is:
nothing is being chosen here. semver: the ranges of npm's `semver` package, where a pre-release is only in a range that
names one of the same version.
"""

from __future__ import annotations

_OPERATORS = ("===", "~=", "==", "!=", "<=", ">=", "<", ">")
_DIGITS = frozenset("0123456789")
_ALNUM = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_MAX = 200
_INFINITY = 1 << 62
_PRE = {"alpha": "a", "beta": "b", "preview": "rc", "pre": "rc", "rc": "rc", "a": "a", "b": "b", "c": "rc"}
"""How pre-releases may be spelled, longer words first, and what they are."""


def is_range(text: str) -> bool:
    """Say whether a wanted value is a range of versions rather than one version or a glob."""
    text = text.strip()
    return (text[:1] in "<>=!~^" and text != "") or "||" in text or " - " in text


def check_range(text: str) -> str:
    """Return what is wrong with a range, "" if it can be read."""
    if len(text) > _MAX:
        return f"is longer than {_MAX} characters"
    if _read_specifiers(text) is None and _read_ranges(text) is None:
        return "is no range of versions"
    return ""


def in_range(text: str, version: str) -> bool | None:
    """Say whether a version is in a range; None where one of them can't be read."""
    specifiers = _read_specifiers(text)
    if specifiers is not None:
        found = _read_pep440(version)
        if found is not None:
            return all(_meets(operator, wanted, found, version) for operator, wanted in specifiers)
    ranges = _read_ranges(text)
    semantic = _read_semver(version)
    if ranges is None or semantic is None:
        return None
    return any(_is_in(comparators, semantic) for comparators in ranges)


# PEP 440


class _Version:
    """One version: what is compared, and its parts."""

    __slots__ = ("dev", "epoch", "local", "post", "pre", "release")

    def __init__(
        self,
        epoch: int,
        release: tuple[int, ...],
        *,
        pre: tuple[str, int] | None = None,
        post: int | None = None,
        dev: int | None = None,
        local: tuple[tuple[int, str], ...] = (),
    ) -> None:
        self.epoch = epoch
        self.release = release
        self.pre = pre
        self.post = post
        self.dev = dev
        self.local = local

    def key(self, *, local: bool) -> tuple[object, ...]:
        """Return what orders versions; without the local part public versions compare."""
        release = list(self.release)
        while len(release) > 1 and release[-1] == 0:
            release.pop()
        if self.pre is not None:
            pre = self.pre
        elif self.post is None and self.dev is not None:
            pre = ("", 0)  # a development release comes before every pre-release
        else:
            pre = ("z", 0)
        return (
            self.epoch,
            tuple(release),
            pre,
            -1 if self.post is None else self.post,
            _INFINITY if self.dev is None else self.dev,
            self.local if local else (),
        )

    @property
    def is_pre(self) -> bool:
        return self.pre is not None or self.dev is not None


class _Reader:
    """Reads a text from the left."""

    __slots__ = ("at", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def take(self, *words: str) -> str:
        for word in words:
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return word
        return ""

    def number(self) -> int | None:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in _DIGITS:
            self.at += 1
        return int(self.text[start : self.at]) if self.at > start else None

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]


def _read_pep440(text: str) -> _Version | None:
    text = text.strip().lower()
    if not text or len(text) > _MAX or not text.isascii():
        return None
    text, plus, local_text = text.partition("+")
    local = _read_local(local_text) if plus else ()
    if local is None:
        return None
    reader = _Reader(text)
    reader.take("v")
    first = reader.number()
    if first is None:
        return None
    epoch = 0
    if reader.take("!"):
        epoch, first = first, reader.number()
        if first is None:
            return None
    release = [first]
    while reader.peek() == "." and reader.text[reader.at + 1 : reader.at + 2] in _DIGITS and reader.at + 1 < len(text):
        reader.at += 1
        release.append(reader.number() or 0)
    pre = _read_pre(reader)
    post = _read_post(reader)
    dev = _read_suffix(reader, ("dev",))
    if reader.at != len(text):
        return None
    return _Version(epoch, tuple(release), pre=pre, post=post, dev=dev, local=local)


def _read_pre(reader: _Reader) -> tuple[str, int] | None:
    start = reader.at
    reader.take(".", "-", "_")
    word = reader.take(*_PRE)
    if not word:
        reader.at = start
        return None
    return _PRE[word], _read_trailing(reader)


def _read_trailing(reader: _Reader) -> int:
    """Return the number behind a word, with a separator or without; 0 if there is none."""
    start = reader.at
    reader.take(".", "-", "_")
    number = reader.number()
    if number is None:
        reader.at = start
        return 0
    return number


def _read_post(reader: _Reader) -> int | None:
    start = reader.at
    if reader.take("-"):
        number = reader.number()
        if number is not None:
            return number
        reader.at = start
    return _read_suffix(reader, ("post", "rev", "r"))


def _read_suffix(reader: _Reader, words: tuple[str, ...]) -> int | None:
    start = reader.at
    reader.take(".", "-", "_")
    if reader.take(*words):
        return _read_trailing(reader)
    reader.at = start
    return None


def _read_local(text: str) -> tuple[tuple[int, str], ...] | None:
    parts = text.replace("-", ".").replace("_", ".").split(".")
    if not all(part and set(part) <= _ALNUM for part in parts):
        return None
    # A number comes after every word, and each is compared among its like.
    return tuple((int(part), "") if set(part) <= _DIGITS else (-1, part) for part in parts)


def _read_specifiers(text: str) -> list[tuple[str, str]] | None:
    """Return (operator, version) of each part of a specifier set, None if it is none."""
    specifiers = []
    for piece in text.split(","):
        part = piece.strip()
        operator = next((one for one in _OPERATORS if part.startswith(one)), "")
        wanted = part[len(operator) :].strip()
        if not operator or not wanted or " " in wanted:
            return None
        if operator == "===":
            specifiers.append((operator, wanted))
            continue
        prefix = operator in ("==", "!=") and wanted.endswith(".*")
        version = _read_pep440(wanted[:-2] if prefix else wanted)
        if version is None or (prefix and (version.local or version.is_pre or version.post is not None)):
            return None
        if version.local and operator not in ("==", "!="):
            return None
        if operator == "~=" and len(version.release) < 2:
            return None
        specifiers.append((operator, wanted))
    return specifiers


def _meets(operator: str, wanted: str, found: _Version, text: str) -> bool:
    if operator == "===":
        return text.strip().lower() == wanted.lower()
    if operator in ("==", "!="):
        return _equals(wanted, found) is (operator == "==")
    version = _read_pep440(wanted)
    assert version is not None  # noqa: S101 - for the type checker: it was read before
    if operator == "~=":
        return found.key(local=False) >= version.key(local=False) and _has_prefix(
            _Version(version.epoch, version.release[:-1]), found
        )
    here, there = found.key(local=False), version.key(local=False)
    if operator == "<=":
        return here <= there
    if operator == ">=":
        return here >= there
    return _is_strictly(operator, version, found)


def _is_strictly(operator: str, version: _Version, found: _Version) -> bool:
    """Compare with `<` or `>`: neither lets in what only decorates the version itself."""
    if operator == "<":
        first = version if version.is_pre else _Version(version.epoch, version.release, post=version.post, dev=0)
        return found.key(local=True) < first.key(local=True)
    same = (_base(found), found.pre) == (_base(version), version.pre)
    posted = found.post is not None and version.post is None and same and version.dev is None
    labelled = bool(found.local) and found.key(local=False) == version.key(local=False)
    return found.key(local=True) > version.key(local=True) and not posted and not labelled


def _base(version: _Version) -> tuple[object, ...]:
    return _Version(version.epoch, version.release).key(local=False)


def _equals(wanted: str, found: _Version) -> bool:
    if wanted.endswith(".*"):
        prefix = _read_pep440(wanted[:-2])
        return prefix is not None and _has_prefix(prefix, found)
    version = _read_pep440(wanted)
    return version is not None and found.key(local=bool(version.local)) == version.key(local=bool(version.local))


def _has_prefix(prefix: _Version, found: _Version) -> bool:
    if prefix.epoch != found.epoch:
        return False
    padded = found.release + (0,) * max(0, len(prefix.release) - len(found.release))
    return padded[: len(prefix.release)] == prefix.release


# semver

_Semver = tuple[int, int, int, tuple[str, ...]]
_Comparator = tuple[str, _Semver]
_EARLIEST = ("",)
"""A pre-release before every one that can be written: where a short form ends."""


def _read_semver(text: str) -> _Semver | None:
    text = text.strip().removeprefix("v").partition("+")[0]
    core, dash, pre = text.partition("-")
    parts = core.split(".")
    if len(parts) != 3 or not all(_is_number(part) for part in parts):
        return None
    words = tuple(pre.split(".")) if dash else ()
    if dash and not all(map(_is_word, words)):
        return None
    return int(parts[0]), int(parts[1]), int(parts[2]), words


def _is_number(text: str) -> bool:
    return 0 < len(text) <= 15 and set(text) <= _DIGITS and (text == "0" or text[0] != "0")


def _is_word(text: str) -> bool:
    if not text or not set(text) <= _ALNUM | {"-"}:
        return False
    return not set(text) <= _DIGITS or _is_number(text)


def _order(version: _Semver) -> tuple[object, ...]:
    words = tuple(
        (-1, 0, "") if not word else (0, int(word), "") if set(word) <= _DIGITS else (1, 0, word) for word in version[3]
    )
    return (*version[:3], not words, words)


def _read_ranges(text: str) -> list[list[_Comparator]] | None:
    """Return the comparators of each alternative, None if one can't be read."""
    ranges = []
    for piece in text.split("||"):
        comparators = _read_alternative(piece.strip())
        if comparators is None:
            return None
        ranges.append(comparators)
    return ranges


def _read_alternative(text: str) -> list[_Comparator] | None:
    low, hyphen, high = text.partition(" - ")
    if hyphen:
        first, last = _read_partial(low.strip()), _read_partial(high.strip())
        if first is None or last is None:
            return None
        return _at_least(first) + _at_most(last)
    comparators: list[_Comparator] = []
    words = text.split()
    while words:
        word = words.pop(0)
        operator = next((one for one in (">=", "<=", ">", "<", "=", "^", "~>", "~") if word.startswith(one)), "")
        rest = word[len(operator) :]
        if not rest and operator and words:
            rest = words.pop(0)  # `>= 1.2` is written with a space too
        partial = _read_partial(rest)
        if partial is None:
            return None
        comparators += _expand(operator, partial)
    return comparators


class _Partial:
    """A version of which parts may be left open."""

    __slots__ = ("parts", "pre")

    def __init__(self, parts: tuple[int, ...], pre: tuple[str, ...]) -> None:
        self.parts = parts
        self.pre = pre

    def low(self) -> _Semver:
        major, minor, patch = (*self.parts, 0, 0, 0)[:3]
        return major, minor, patch, self.pre

    def next(self, place: int) -> _Semver:
        """Return the first version above every one that agrees up to a part: its earliest pre-release."""
        parts = [*self.low()[:3]]
        parts[place] += 1
        parts[place + 1 :] = [0] * (2 - place)
        return parts[0], parts[1], parts[2], _EARLIEST


def _read_partial(text: str) -> _Partial | None:
    text = text.removeprefix("v").partition("+")[0]
    core, dash, pre = text.partition("-")
    if core in ("", "*", "x", "X"):
        return _Partial((), ()) if not dash else None
    pieces = core.split(".")
    parts: list[int] = []
    for piece in pieces:
        if piece in ("*", "x", "X"):
            break
        if not _is_number(piece):
            return None
        parts.append(int(piece))
    if len(pieces) > 3 or any(piece not in ("*", "x", "X") for piece in pieces[len(parts) :]):
        return None
    words = tuple(pre.split(".")) if dash else ()
    if dash and (len(parts) < 3 or not all(map(_is_word, words))):
        return None
    return _Partial(tuple(parts), words)


def _at_least(partial: _Partial) -> list[_Comparator]:
    return [(">=", partial.low())] if partial.parts else []


def _at_most(partial: _Partial) -> list[_Comparator]:
    if not partial.parts:
        return []
    if len(partial.parts) == 3:
        return [("<=", partial.low())]
    return [("<", partial.next(len(partial.parts) - 1))]


_NEVER: list[_Comparator] = [("<", (0, 0, 0, _EARLIEST))]


def _expand(operator: str, partial: _Partial) -> list[_Comparator]:
    """Return the plain comparators that one of npm's short forms stands for."""
    known = len(partial.parts)
    if operator in ("<", ">") and not known:
        return _NEVER
    if not known:
        return []
    low = partial.low()
    match operator:
        case "^":
            place = next((place for place in range(min(known, 3)) if partial.parts[place]), known - 1)
            return [(">=", low), ("<", partial.next(min(place, 2)))]
        case "~" | "~>":
            return [(">=", low), ("<", partial.next(min(known - 1, 1)))]
        case ">" if known < 3:
            above = partial.next(known - 1)
            return [(">=", (*above[:3], ()))]
        case "<" if known < 3:
            return [("<", (*low[:3], _EARLIEST))]
        case "<=" if known < 3:
            return [("<", partial.next(known - 1))]
        case "" | "=" if known < 3:
            return [(">=", low), ("<", partial.next(known - 1))]
        case _:
            return [(operator or "=", low)]


def _is_in(comparators: list[_Comparator], version: _Semver) -> bool:
    here = _order(version)
    for operator, wanted in comparators:
        there = _order(wanted)
        held = {
            "<": here < there,
            "<=": here <= there,
            ">": here > there,
            ">=": here >= there,
            "=": here == there,
        }[operator]
        if not held:
            return False
    if not version[3]:
        return True
    # A pre-release is only wanted by who names one of the very same version.
    return any(wanted[3] and wanted[3] != _EARLIEST and wanted[:3] == version[:3] for _, wanted in comparators)
