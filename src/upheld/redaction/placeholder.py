"""Tell a placeholder, a documentation example or a piece of code from a value that is itself a secret.

Wrongly redacted text is lost for good (rows are append-only), so what people write where a secret would
stand (`<your-token>`, `${TOKEN}`, `xxxx`, `os.environ[...]`) must survive. No rule of its own: pure questions.
"""

import re

_MARKS = (
    *("example", "your-", "your_", "yourtoken", "-your", "_your", "yourpass", "placeholder", "changeme", "change-me"),
    *("change_me", "replace_", "replace-", "replaceme", "insert_", "insert-", "dummy", "redacted", "censored", "xxxx"),
    *("***", "...", "…", "todo", "fixme", "notset", "not_set", "not-set", "sample_", "sample-", "${", "$(", "{{", "%("),
    *("process.env", "os.environ", "getenv", "import.meta", "secrets.", "vault:", "_here", "-here", "foobar"),
)
_OPENERS = ("$", "<", "{", "[", "%", "#{", "`", "\\")
_WORDS = frozenset(
    "password passwd passphrase pass pwd secret token key apikey api_key credential credentials auth user username "
    "test testing none null nil undefined true false string str int bytes text hidden required optional invalid "
    "missing wrong incorrect empty unset default any object number boolean bearer basic admin_password forgot reset "
    "mypassword my_password mysecret my_secret mytoken my_token secretstr unknown disabled enabled value".split()
)
_CODE_NAME = re.compile(r"[A-Za-z_$@]+(?:[_.:/>-]+[A-Za-z_$]+)*(?:[_.-]?v?\d{1,2})?")
_CONSTANT = re.compile(r"[A-Z]{2,24}(?:_[A-Z0-9]{1,24}){1,12}")
_DOTTED = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][A-Za-z0-9_$]*)+")
_PATH = re.compile(r"(?:[A-Za-z]:[\\/]|~?/|\.{1,2}/|\w+/[\w./-]*\.\w{1,5}\Z)")
_NUMBER = re.compile(r"[0-9._,+-]+(?:[eE][+-]?[0-9]+)?")
_DIGIT, _UPPER, _LOWER = re.compile(r"[0-9]"), re.compile(r"[A-Z]"), re.compile(r"[a-z]")
_FEWEST_DISTINCT = 4
_LONGEST_NAME = 100
_MANY_DIGITS = 4


def is_placeholder(value: str) -> bool:
    """Return whether `value` stands for a secret instead of being one."""
    lowered = value.lower()
    if value.startswith(_OPENERS) or lowered.strip("_-:.,!?") in _WORDS:
        return True
    return len(set(value)) < _FEWEST_DISTINCT or any(mark in lowered for mark in _MARKS)


def is_code(value: str) -> bool:
    """Return whether `value` reads as a name, a dotted reference or words joined by dashes."""
    if len(value) > _LONGEST_NAME:
        return False
    if _CONSTANT.fullmatch(value) is not None and sum(map(str.isdigit, value)) < _MANY_DIGITS:
        return True
    return _CODE_NAME.fullmatch(value) is not None or _DOTTED.fullmatch(value) is not None


def is_path(value: str) -> bool:
    """Return whether `value` reads as a file path or a URL; a random string with slashes does not."""
    if "://" in value or value.startswith("arn:"):
        return True
    return _PATH.match(value) is not None and not is_mixed(value)


def is_number(value: str) -> bool:
    """Return whether `value` reads as a number, with separators or an exponent."""
    return _NUMBER.fullmatch(value) is not None


def is_mixed(value: str) -> bool:
    """Return whether `value` mixes lower case, upper case and digits, as generated keys do."""
    return all(kind.search(value) is not None for kind in (_DIGIT, _UPPER, _LOWER))


def has_digit(value: str) -> bool:
    """Return whether `value` holds an ASCII digit."""
    return _DIGIT.search(value) is not None
