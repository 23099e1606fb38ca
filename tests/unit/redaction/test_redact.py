"""What is taken out, what must survive, and what holds for any text at all."""

import importlib.util
import os
import time
from collections.abc import Callable
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upheld.errors import INVALID_ARGUMENT, InvalidArgumentError
from upheld.redaction.redact import StrictModeError, redact, redact_value


def _load_samples() -> ModuleType:
    path = os.path.join(os.path.dirname(__file__), "samples.py")
    spec = importlib.util.spec_from_file_location("redaction_samples", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


samples = _load_samples()
TOKENS: dict[str, str] = samples.TOKENS
mixed: Callable[[int], str] = samples.mixed
hexadecimal: Callable[[int], str] = samples.hexadecimal
private_key: Callable[..., str] = samples.private_key


@pytest.mark.parametrize("rule", TOKENS)
@pytest.mark.parametrize(
    "around", ["{}", "uses {} in CI", '"{}"', "a\n{}\nb", "f({})", "line\\n{}", "密钥{}。", "url?x=1&y={}&z"]
)
def test_a_provider_token_is_named_by_its_rule(rule: str, around: str) -> None:
    token = TOKENS[rule]
    redacted = redact(around.format(token))
    assert redacted.text == around.format(f"[redacted:{rule}]")
    assert redacted.counts == {rule: 1}


@pytest.mark.parametrize(
    ("text", "secret", "rule"),
    [
        ("DB_PASSWORD={}", "hunter2!", "assignment"),
        ("export APP_SECRET_KEY='{}'", mixed(30), "assignment"),
        ('{{"apiKey": "{}"}}', mixed(24), "assignment"),
        ("client-secret: {}", mixed(24), "assignment"),
        ('\\"accessToken\\": \\"{}\\"', mixed(24), "assignment"),
        ("clientSecret := '{}'", mixed(24), "assignment"),
        ('password = "{}"', "correct-horse", "assignment"),
        ("the api key: {}", mixed(24), "assignment"),
        ("the token is {}", mixed(24), "assignment"),
        ("deploy --password {} --quiet", "hunter2hunter2", "assignment"),
        ("get('SECRET_KEY', '{}')", mixed(24), "assignment"),
        ("<password>{}</password>", "hunter2hunter2", "assignment"),
        ('<add key="SmtpPassword" value="{}"/>', "hunter2$", "assignment"),
        ("JENKINS_TOKEN={}", hexadecimal(34), "assignment"),
        ("postgres://app:{}@db.internal:5432/app", "s3cretpw", "url-password"),
        ("https://x-access-token:{}@git.host/a/b.git", "w9GqX2b7", "url-password"),
        ("Authorization: Basic {}", "QWxhZGRpbjpvcGVu", "authorization"),
        ('-H "Authorization: Bearer {}"', mixed(40), "authorization"),
        ("Authorization: Api-Token {}", mixed(40), "authorization"),
        ("bearer {}", mixed(40), "authorization"),
        ("Set-Cookie: {}", "session=a8f3kq92mz71; Path=/", "cookie"),
        ("https://hooks.slack.com/services/{}", "T0AAAAAA1/B0BBBBBB2/" + mixed(24), "slack"),
        ("DefaultEndpointsProtocol=https;AccountKey={}", mixed(60) + "==", "azure"),
        ("machine api.host login me password {}", "pass123word", "netrc"),
        ("curl -u admin:{} https://host/", "P@ssw0rdX", "basic-auth"),
        ("Server=h;User Id=u;Password={};", "Tr0ub4dor", "connection-string"),
    ],
)
def test_a_secret_told_by_its_surroundings_goes_and_the_rest_stays(text: str, secret: str, rule: str) -> None:
    redacted = redact(text.format(secret))
    assert redacted.text == text.format(f"[redacted:{rule}]")
    assert redacted.counts == {rule: 1}


@pytest.mark.parametrize(
    "text",
    [
        "AKIA" + "IOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "commit 3f2a9c1e5b7d8a6f4c2e1d0b9a8f7e6d5c4b3a29",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "apiKey: import.meta.env.X",
        "apiKey: import.meta.env.VITE_API_KEY2",
        'password = os.environ["X"]',
        "const secret = process.env.SECRET_2;",
        "token: str",
        "token: AccessToken2",
        "password: string;",
        "token = get_token()",
        "token = self._token",
        "api_key=api_key",
        "secret: ${SECRET}",
        "TOKEN=$TOKEN",
        "password: <your-token>",
        'API_KEY="your-api-key-here"',
        "token: xxxxxxxxxxxxxxxx",
        "ghp_" + "x" * 36,
        "password=********",
        "max_tokens=4096",
        "max_tokens: 128000000",
        "TOKEN_PRICE_PER_TOKEN = TOKEN_PRICE_INPUT_PER_1M / 1_000_000",
        "tokenizer: bert-base-uncased-v2",
        "token count: 123",
        "token_type: bearer",
        "secret_name: db-credentials-1",
        "cache_key = 9f86d081884c7d659a2feaa0c55ad015",
        "primary_key: user_id_2",
        "public_key: c29tZSBwdWJsaWMga2V5IG1hdGVyaWFsMQ",
        "key: Ctrl+Shift+P",
        "KeyError: 'etag'",
        "passed: 12 tests in 3.4s",
        "src/auth/token.py:120",
        "/etc/ssl/private/key2.pem",
        "secret file: /run/secrets/db_password2",
        "aGVsbG8gd29ybGQ=",
        "pip install sk-learn",
        "sk-learn-contrib-extra-long-package-name",
        "the password is required",
        "the token is expired; the secret was rotated",
        '"password": "Password"',
        'usernameLabel:"Name:",passwordLabel:"Password:",rememberLabel:"Remember me:"',
        "Authorization: Bearer <token>",
        'headers = {"Authorization": f"Bearer {token}"}',
        "authorization is checked in middleware2",
        "cookie: a=b",
        "https://user:password@host/path",
        "postgres://${USER}:${PASSWORD}@localhost/db",
        "http://localhost:8080/a@b",
        "git@github.com:owner/repo.git",
        "-----BEGIN PUBLIC KEY-----",
        "a file that starts with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----",
        "https://host.example/home/page/x",
        "see /home/$USER/x and /Users/Shared/tool",
        "eyJhbGciOiJIUzI1NiJ9",
        "[redacted:github] and ~/src",
    ],
)
def test_what_only_looks_like_a_secret_survives_unchanged(text: str) -> None:
    assert redact(text) == (text, {})


def test_a_private_key_goes_whole_with_its_end_and_without() -> None:
    whole = redact(f"before\n{private_key()}\nafter")
    assert whole.text == "before\n[redacted:private-key]\nafter"
    torn = redact(f"before {private_key(ended=False)}")
    assert torn.text == "before [redacted:private-key]"
    followed = redact(f"{private_key(ended=False)}\n\nThen the login fails.")
    assert followed.text == "[redacted:private-key]\n\nThen the login fails."


def test_a_private_key_in_a_json_string_goes_whole() -> None:
    text = '{"private_key": "' + private_key().replace("\n", "\\n") + '\\n"}'
    assert redact(text).text == '{"private_key": "[redacted:private-key]\\n"}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/alice/src/x.py", "~/src/x.py"),
        ("in /Users/bob.smith/work: failed", "in ~/work: failed"),
        ("C:\\Users\\Jane Doe\\repo", "~\\repo"),
        ("C:\\\\Users\\\\jane\\\\repo", "~\\\\repo"),
        ("file:///home/alice/a.html", "file://~/a.html"),
        ("/mnt/c/Users/jane/repo", "~/repo"),
        ("cd /data/me && ls /data/me/x /data/meter", "cd ~ && ls ~/x /data/meter"),
    ],
)
def test_home_directories_become_a_tilde(text: str, expected: str) -> None:
    redacted = redact(text, home="/data/me")
    assert redacted.text == expected
    assert set(redacted.counts) == {"home-path"}


def test_overlapping_finds_are_one_and_the_surest_rule_names_it() -> None:
    redacted = redact("Authorization: Bearer " + TOKENS["jwt"])
    assert redacted == ("Authorization: Bearer [redacted:jwt]", {"jwt": 1})
    assert redact("GITHUB_TOKEN=" + TOKENS["github"]).counts == {"github": 1}


def test_a_secret_broken_by_invisible_characters_is_found() -> None:
    token = TOKENS["github"]
    broken = token[:2] + "\u200b" + token[2:20] + "\u2060" + token[20:]
    assert redact(f"a {broken} b").text == "a [redacted:github] b"


def test_a_secret_longer_than_what_is_judged_goes_to_its_end() -> None:
    assert redact('secret = "' + mixed(100) * 50 + '" # note').text == 'secret = "[redacted:assignment]" # note'


def test_letters_that_grow_when_lowered_do_not_shift_what_is_taken_out() -> None:
    assert redact("İİİ PASSWORD=hunter2hunter2 İ").text == "İİİ PASSWORD=[redacted:assignment] İ"


def test_strict_mode_refuses_and_tells_rules_and_counts_only() -> None:
    token = TOKENS["github"]
    with pytest.raises(StrictModeError) as refusal:
        redact(f"{token} in /home/alice/x", strict=True, argument="claim")
    assert refusal.value.code == INVALID_ARGUMENT
    assert refusal.value.argument == "claim"
    assert refusal.value.counts == {"github": 1, "home-path": 1}
    assert "github (1), home-path (1)" in refusal.value.message
    assert token not in refusal.value.message
    assert "alice" not in refusal.value.message
    assert redact("harmless", strict=True).text == "harmless"


def test_a_value_is_cleaned_in_its_keys_its_items_and_by_its_keys() -> None:
    first, second = TOKENS["github"], "ghp_" + mixed(40)[::-1]
    value = {first: 1, second: 2, "password": "hunter2!", "tags": [TOKENS["npm"], "ok"], "n": None, "t": ("a", 3)}
    redacted = redact_value(value)
    assert redacted.value == {
        "[redacted:github]": 1,
        "[redacted:github]#2": 2,
        "password": "[redacted:assignment]",
        "tags": ["[redacted:npm]", "ok"],
        "n": None,
        "t": ("a", 3),
    }
    assert redacted.counts == {"assignment": 1, "github": 2, "npm": 1}
    with pytest.raises(StrictModeError):
        redact_value(value, strict=True)


def test_a_value_nested_too_deeply_is_refused() -> None:
    value: object = "x"
    for _ in range(300):
        value = [value]
    with pytest.raises(InvalidArgumentError, match="nested deeper"):
        redact_value(value, argument="scope")


PIECES = st.sampled_from(
    [
        *TOKENS.values(),
        *("password=", "secret: ", '"token": "', "Authorization: Bearer ", "://u:", "@h/", "Cookie: a=", "--api-key "),
        *(
            "/home/a",
            "/",
            "/Users/",
            "C:\\Users\\",
            "[redacted:",
            "]",
            "-----BEGIN PRIVATE KEY-----",
            "-----END X-----",
        ),
        *(
            "\u200b",
            "\ud800",
            "\0",
            "\n",
            "\\n",
            " ",
            '"',
            "'",
            "=",
            ":",
            ".",
            "-",
            "_",
            "hunter2abc",
            "İ",
            "密",
            "$6$a$",
        ),
        *(
            mixed(20),
            hexadecimal(40),
            "eyJ",
            "sk-",
            "curl -u a:",
            "machine login a password ",
            "value=",
            "key",
            "key, ",
        ),
    ]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=14).map("".join), st.text(max_size=200))


@given(TEXTS)
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redact(text, home="/data/me")
    assert redact(once.text, home="/data/me") == (once.text, {})


@given(st.sampled_from(sorted(TOKENS)), TEXTS, TEXTS)
def test_a_token_set_apart_never_survives(rule: str, before: str, after: str) -> None:
    assert TOKENS[rule] not in redact(f"{before}\n{TOKENS[rule]}\n{after}").text.split("\n")


@given(st.recursive(st.none() | st.integers() | TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
def test_a_value_keeps_its_shape_and_loses_no_entry(value: object) -> None:
    clean = redact_value(value).value
    assert type(clean) is type(value)
    if isinstance(value, (dict, list)):
        assert isinstance(clean, (dict, list))
        assert len(clean) == len(value)


HOSTILE = [
    *("password=", "token:", "sk-ant-", "eyJ.eyJ", "-----BEGIN PRIVATE KEY-----", "://a:b", "/home/a/", "Cookie: a="),
    *("Authorization: Bearer ", 'password = "', "\u200bsecret=", "curl -u a:", "C:\\Users\\", "$6$a$", "a", "-", " "),
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_megabyte_of_one_hostile_piece_is_done_in_time(piece: str) -> None:
    text = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]
    start = time.process_time()
    redact(text)
    # A quadratic pattern takes hours here; a linear one, seconds.
    assert time.process_time() - start < 60
