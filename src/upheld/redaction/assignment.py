"""Judge `name = value`: a secret that is told by its name (`DB_PASSWORD=...`, `"apiKey": "..."`).

The pattern finds every name that is followed by a value; two pure questions decide: does the name speak
of a secret, and is the value a literal and no placeholder, code or path. How much is asked of the value
depends on how sure the context is: a quoted literal or `UPPER=value` is surer than `name: word`.
"""

import re
from collections.abc import Iterator

from upheld.redaction.placeholder import has_digit, is_code, is_mixed, is_number, is_path, is_placeholder

NAME = "assignment"
_KEYWORD = re.compile(r"pass|pwd|pswd|secret|token|key|auth|credential|login|_pat")
_ASSIGNED = re.compile(
    r"(?P<rest>[A-Za-z0-9_.$-]{0,48}+)"
    r"(?P<closed>\\?[\"'`]?)\]?"
    r"(?:[ \t]{0,16}(?P<separator>=>|:=|={1,3}|!==?|:)[ \t]{0,16}|(?P<prose>[ ](?:is|was):?[ ])"
    r"|(?P<pair>\s{0,4},\s{0,4})|\s{1,4}value=|(?P<flag>[ ]{1,2})|>)"
    r"(?P<quote>[bru]?\\?[\"'`])?"
)
_NAME_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$-"
_SPACED_NAMES = ("api ", "access ", "private ", "secret ", "auth ", "client ")
_LONGEST_NAME_BEFORE = 80
_QUOTED = re.compile(r"(?:[^\"'`\\\r\n]|\\[^nrt\"'`\r\n])*+")
_BARE = re.compile(r"[^\s\"'`,;&<>(){}\[\]\\]*+")
_ODD_SIGN = re.compile(r"[#$!^&*?%+=~]")
_LETTER = re.compile(r"[A-Za-z]")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LONGEST_JUDGED = 256

_PASSWORDS = frozenset("password passwd passwort pwd passphrase passcode pswd userpass dbpass".split())
_SECRETS = frozenset(
    "secret secrets token credential credentials apikey authtoken accesstoken apitoken secretkey accesskey "
    "privatekey clientsecret authkey oauthtoken bearertoken pat".split()
)
_BEFORE_KEY = frozenset(
    "api access private secret encryption signing auth account license master service shared consumer subscription "
    "storage admin integration ingest webhook deploy session preshared app client write read rest server".split()
)
_WEAK = frozenset({"key", "auth", "pass", "login"})
_KEYS_OF_DATA = frozenset(
    "public cache primary foreign sort partition object idempotency dedupe map dict row group cursor index query "
    "translation i18n lookup hash unique composite storage hot short".split()
)
_AFTER = frozenset(
    "value prod production dev development test testing staging stage live base64 b64 base key string str default old "
    "new current backup main local remote env enc raw plain literal confirmation confirm again".split()
)
_LONG_NUMBER = 20
_SHORTEST = {"password": 5, "secret": 8, "weak": 16}


def find_assigned(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of values that their names give away as secrets.

    Args:
        text: Any text.
        lowered: The same in lower case, character by character.
    """
    position = 0
    while (keyword := _KEYWORD.search(lowered, position)) is not None:
        position = keyword.end()
        match = _ASSIGNED.match(text, position)
        if match is None:
            continue
        name = _whole_name(text, keyword.start(), match.end("rest"))
        family = family_of(name)
        if family is None or not _is_assignment(text, match, name):
            continue
        start = match.end()
        pattern = _BARE if match["quote"] is None else _QUOTED
        end = _end(pattern, text, start, start + _LONGEST_JUDGED)
        value = text[start:end]
        sure = match["quote"] is not None or (name.isupper() and match[0].endswith("="))
        if match["quote"] is None:
            value = value.rstrip(".,:;" if sure else ".,:;!?")
            if text[end : end + 1] in {"(", "["}:
                continue
        labelled = match["separator"] == ":" or match["pair"] is not None
        if is_secret(value, family, sure=sure, labelled=labelled):
            is_longer = end == start + _LONGEST_JUDGED
            position = _end(pattern, text, end, len(text)) if is_longer else start + len(value)
            yield start, position


def _whole_name(text: str, keyword: int, end: int) -> str:
    before = text[max(0, keyword - _LONGEST_NAME_BEFORE) : keyword]
    other = before.rstrip(_NAME_CHARACTERS)
    for first in _SPACED_NAMES:
        if len(other) == len(before) and other[-len(first) :].lower() == first:
            return text[keyword - len(first) : end]
    return text[keyword - len(before) + len(other) : end]


def _is_assignment(text: str, match: "re.Match[str]", name: str) -> bool:
    """Return whether what stands between name and value joins them."""
    quoted = match["quote"] is not None
    if match["flag"] is not None:
        return name.startswith("--")
    if match["pair"] is not None:
        return quoted and bool(match["closed"])
    first = match.end("rest") - len(name)
    opened = text[first - 1 : first] if first else ""
    if opened == "/" and match[0].endswith(":"):
        return False  # the user of a URL, whose password has its own rule
    # In `"Password:"` the quote after the colon closes the label; no value follows.
    return not (quoted and not match["closed"] and opened == match["quote"])


def _end(pattern: "re.Pattern[str]", text: str, start: int, limit: int) -> int:
    match = pattern.match(text, start, limit)
    return match.end() if match else start


def family_of(name: str) -> str | None:
    """Return what kind of secret `name` speaks of: `password`, `secret`, `weak` or nothing."""
    words = [word.lower() for word in _CAMEL.findall(name)]
    while len(words) > 1 and ((words[-1] in _AFTER and words[-1] != "key") or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    last = words[-1]
    before = words[-2] if len(words) > 1 else ""
    if last in _PASSWORDS or (last == "pass" and before):
        return "password"
    if last in _SECRETS or (last == "key" and (before in _BEFORE_KEY or before in _SECRETS)):
        return "secret"
    if last == "base" and before == "key":
        return "secret"
    if last == "token" or name.lower().endswith(("password", "secret", "token", "apikey", "_passwd")):
        return "secret"
    if last in _WEAK and before and before not in _KEYS_OF_DATA:
        return "weak"
    return "weak" if last == "auth" else None


def is_secret(value: str, family: str, *, sure: bool, labelled: bool) -> bool:
    """Return whether `value`, standing beside a name of this family, is a secret itself.

    Args:
        value: The value without its quotes.
        family: What `family_of` said about the name.
        sure: Whether the place can hold only a literal (quoted, or `UPPER=value`).
        labelled: Whether it follows a colon, where labels and type names stand too.
    """
    if len(value) < _SHORTEST[family] or len(value.split()) != 1:
        return False
    if is_placeholder(value) or is_path(value):
        return False
    if family == "password" and sure and not is_number(value):
        return not (labelled and value.isalpha() and not value.islower()) and not _is_reference(value)
    if is_number(value):
        return family == "password" or (sure and len(value) >= _LONG_NUMBER)
    if is_code(value) or not has_digit(value):
        return family == "secret" and sure and _has_odd_sign(value)
    if family == "weak":
        return is_mixed(value) or (sure and not labelled)
    return _LETTER.search(value) is not None


def _is_reference(value: str) -> bool:
    return "." in value and is_code(value)


def _has_odd_sign(value: str) -> bool:
    return value.isascii() and _ODD_SIGN.search(value, 1) is not None and _LETTER.search(value) is not None
