"""Strings in the shape of secrets, put together at run time so that no scanner finds one in this repository."""

_HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_MIXED = "Q3xT9vLm2KpR7sWd4YhB8nZc5JfG6aEu1oVi0MtXq" * 3


def mixed(length: int) -> str:
    return _MIXED[:length]


def hexadecimal(length: int) -> str:
    return (_HEX * 3)[:length]


def private_key(*, ended: bool = True) -> str:
    lines = "\n".join(mixed(100)[start : start + 64] for start in (0, 3, 7))
    fence = "-----"
    end = f"\n{fence}END RSA PRIVATE KEY{fence}" if ended else ""
    return f"{fence}BEGIN RSA PRIVATE KEY{fence}\n{lines}{end}"


TOKENS = {
    "aws": "AKIA" + "Q3XT9VLM2KPR7SWD",
    "github": "ghp_" + mixed(36),
    "gitlab": "glpat-" + mixed(20),
    "slack": "xoxb-" + "893582989554-899326518131-" + mixed(24),
    "stripe": "sk_live_" + mixed(24),
    "anthropic": "sk-ant-" + "api03-" + mixed(40),
    "openai": "sk-proj-" + mixed(40),
    "google": "AIza" + "Sy" + mixed(33),
    "npm": "npm_" + mixed(36),
    "pypi": "pypi-" + "AgEIcHlwaS5vcmc" + mixed(40),
    "hugging-face": "hf_" + mixed(34),
    "sendgrid": "SG." + mixed(22) + "." + mixed(43),
    "digitalocean": "dop_v1_" + hexadecimal(64),
    "shopify": "shpat_" + hexadecimal(32),
    "telegram": "4839574813" + ":AA" + mixed(33),
    "databricks": "dapi" + hexadecimal(32),
    "doppler": "dp.pt." + mixed(43),
    "linear": "lin_api_" + mixed(40),
    "notion": "ntn_" + mixed(46),
    "vault": "hvs." + mixed(40),
    "jwt": "eyJ" + mixed(30) + ".eyJ" + mixed(30) + "." + mixed(40),
    "private-key": "AGE-SECRET-KEY-" + "1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2,
    "docker-hub": "dckr_pat_" + mixed(27),
    "groq": "gsk_" + mixed(50),
    "password-hash": "$2b$" + "12$" + mixed(53),
}
"""One token for each of these rules."""
