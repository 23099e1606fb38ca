"""The closed table of named rules for secrets that can be told by their own shape.

Each rule has literal hints (one must occur before its pattern is tried, so harmless text costs a few
substring tests) and a pattern whose group `secret`, or the whole match, is what must not be stored.
Secrets that only their name gives away (`password = ...`) are judged in `assignment`; the
replacing is done in `redact`. Adding a provider is one line here and one case in its test.

Patterns stay linear by construction: a token can only begin where a run of its own characters begins,
every open-ended repeat is possessive or the last thing in its pattern, and other repeats are bounded.
"""

import re
from typing import NamedTuple


class Rule(NamedTuple):
    """One named way to tell a secret.

    Args:
        name: What the replacement and the counts call it.
        hints: Literals; without any of them in the text the pattern is not tried.
        folded: Whether the hints are lower case and looked for in the lowered text.
        pattern: Finds the secret.
        needs_digit: Whether a candidate without a digit is taken for words joined by dashes.
    """

    name: str
    hints: tuple[str, ...]
    folded: bool
    pattern: re.Pattern[str]
    needs_digit: bool


def _token(name: str, prefixes: str, rest: str, *, needs_digit: bool = False) -> list[Rule]:
    """Return a rule for each prefix that begins a token of a provider."""
    return [
        Rule(name, (prefix,), False, re.compile(_at_start(prefix) + rest), needs_digit) for prefix in prefixes.split()
    ]


def _at_start(prefix: str) -> str:
    # The look-behind stands after the literal, since `re` searches quickly only for a leading literal.
    literal = re.escape(prefix)
    return rf"{literal}(?:(?<![A-Za-z0-9_-]{literal})|(?<=\\[nrt]{literal})|(?<=%[0-9A-F][0-9A-F]{literal}))"


def _shape(name: str, hints: str, pattern: str, *, needs_digit: bool = False) -> list[Rule]:
    """Return one rule for a secret that is told by what stands around it."""
    return [Rule(name, tuple(hints.split("|")), True, re.compile(pattern), needs_digit)]


_URLSAFE = r"[A-Za-z0-9_-]"
_BASE64 = r"[A-Za-z0-9+/]"
_LONE = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
_END = r"(?![A-Za-z0-9])"
_ARMOUR = r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_NO_FENCE = r"(?:[^-]|-(?!----))"
_KEY_LINES = r"(?:(?:\s|\\[nrt]|[\"'+,>#*|\\]){0,12}[A-Za-z0-9+/=]{16,}+)"
_HEADER = r"(?i:authorization)\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?"

PRIVATE_KEY = "private-key"

RULES: tuple[Rule, ...] = (
    *_shape(
        PRIVATE_KEY,
        "-----begin",
        rf"{_ARMOUR}{_NO_FENCE}*+-----END[ A-Z0-9]{{0,60}}-----|{_ARMOUR}{_KEY_LINES}++"
        r"(?:\s{0,4}[A-Za-z0-9+/]{1,15}+={0,2}(?=\s*+\Z))?",
    ),
    *_token(
        PRIVATE_KEY, "LS0tLS1CRUdJTi", rf"(?:BQUklW|BSU0Eg|BFQyBQ|BPUEVO|BFTkNS|BEU0Eg|BQR1Ag){_BASE64}{{24,}}+=*+"
    ),
    *_shape(PRIVATE_KEY, "private-lines:", rf"Private-Lines: *\d{{1,3}}(?:\s{{1,4}}{_BASE64}{{16,}}+=*+)++"),
    *_token(PRIVATE_KEY, "AGE-SECRET-KEY-", r"(?:PQ-)?1[A-Z0-9]{40,}+"),
    *_token("aws", "AKIA ASIA ABIA ACCA A3T0", rf"[A-Z0-9]{{16}}{_END}"),
    *_token("aws", "ABSK", rf"{_BASE64}{{100,}}+=*+"),
    *_token("github", "ghp_ gho_ ghs_ ghu_ ghr_", r"[A-Za-z0-9]{36,}+"),
    *_token("github", "github_pat_", r"[A-Za-z0-9_]{36,}+"),
    *_token("github", "v1.", rf"[0-9a-f]{{40}}{_END}"),
    *_token(
        "gitlab",
        "glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glimt- glagent- gloas- glsoat- glffct-",
        rf"{_URLSAFE}{{20,}}+(?:\.[A-Za-z0-9._-]*+)?",
        needs_digit=True,
    ),
    *_token("gitlab", "GR1348941", rf"{_URLSAFE}{{20,}}+"),
    *_token(
        "slack",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe. xapp-",
        r"(?:xox[bp]-)?[A-Za-z0-9%-]{20,}+",
        needs_digit=True,
    ),
    *_shape(
        "slack",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9+/_-]{20,}+)",
    ),
    *_token("stripe", "sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_", r"[A-Za-z0-9]{10,}+"),
    *_token("stripe", "whsec_", r"[A-Za-z0-9+/=]{24,}+"),
    *_token("anthropic", "sk-ant-", rf"{_URLSAFE}{{20,}}+", needs_digit=True),
    *_token(
        "openai",
        "sk-proj- sk-svcacct- sk-service- sk-admin- sk-None- sk-or-v1-",
        rf"{_URLSAFE}{{20,}}+",
        needs_digit=True,
    ),
    *_token("openai", "sk-", r"[A-Za-z0-9]{32,}+", needs_digit=True),
    *_token("google", "AIza", rf"{_URLSAFE}{{35,}}+"),
    *_token("google", "ya29.", r"[A-Za-z0-9_.-]{20,}+"),
    *_token("google", "GOCSPX-", rf"{_URLSAFE}{{20,}}+"),
    *_token("npm", "npm_", r"[A-Za-z0-9]{36,}+"),
    *_token("pypi", "pypi-AgE", rf"{_URLSAFE}{{20,}}+"),
    *_token("hugging-face", "hf_ api_org_", r"[A-Za-z0-9]{30,}+"),
    *_token("sendgrid", "SG.", rf"{_URLSAFE}{{16,64}}+\.{_URLSAFE}{{16,}}+"),
    *_token("brevo", "xkeysib- xsmtpsib-", r"[a-f0-9]{64}-[A-Za-z0-9]{16,}+"),
    *_shape("twilio", "twilio", rf"{_LONE}SK[0-9a-fA-F]{{32}}{_END}"),
    *_token("digitalocean", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{64}"),
    *_token("shopify", "shpat_ shpca_ shppa_ shpss_ shptka_", r"[a-fA-F0-9]{32,}+"),
    *_shape(
        "azure",
        "accountkey=|sharedaccesskey=|;secret=|sharedsecretvalue=",
        rf"(?i:AccountKey|SharedAccessKey|;Secret|SharedSecretValue)=\s?(?P<secret>{_BASE64}{{32,}}+=*+)",
    ),
    *_shape("azure", "sig=", r"[?&]sig=(?P<secret>[A-Za-z0-9%+/_-]{40,}+=*+)"),
    *_shape("azure", "q~", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,}+"),
    *_shape("azure", "jqqj99", rf"{_LONE}[A-Za-z0-9]{{52}}JQQJ99[A-Za-z0-9]{{20,}}+"),
    *_shape("telegram", ":aa", rf"{_LONE}[0-9]{{8,10}}:AA{_URLSAFE}{{32,}}+"),
    *_shape("discord", "discord", rf"{_LONE}[MNO][A-Za-z0-9_-]{{23,27}}\.{_URLSAFE}{{6}}\.{_URLSAFE}{{27,}}+"),
    *_shape("discord", "/api/webhooks/", r"/api/webhooks/\d{16,20}/(?P<secret>[A-Za-z0-9_-]{30,}+)"),
    *_shape(
        "microsoft-teams",
        "office.com/webhook",
        r"office\.com/webhook[a-z0-9]{0,4}/(?P<secret>[A-Za-z0-9@/-]{60,}+)",
    ),
    *_token("databricks", "dapi", r"[a-f0-9]{32}(?:-\d)?(?![a-f0-9])"),
    *_token(
        "doppler",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        r"(?:[a-z0-9_-]{2,35}+\.)?[A-Za-z0-9]{40,}+",
    ),
    *_token("linear", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,}+"),
    *_token("notion", "ntn_", r"[A-Za-z0-9]{40,}+"),
    *_token("notion", "secret_", rf"[A-Za-z0-9]{{43}}{_END}", needs_digit=True),
    *_token("cloudflare", "v1.0-", r"[a-f0-9]{24}-[a-f0-9]{100,}+"),
    *_token("cloudflare", "cfut_ cfat_ cfk_", rf"{_URLSAFE}{{40,}}+"),
    *_token("vault", "hvs. hvb. hvr.", rf"{_URLSAFE}{{20,}}+"),
    *_shape("vault", "vault", rf"(?<![A-Za-z0-9_.-])[sbr]\.[A-Za-z0-9]{{24}}{_END}", needs_digit=True),
    *_shape("terraform", ".atlasv1.", rf"{_LONE}[A-Za-z0-9]{{14}}\.atlasv1\.{_URLSAFE}{{50,}}+"),
    *_token("grafana", "glsa_ glc_", r"[A-Za-z0-9+/_]{32,}+=*+"),
    *_token("grafana", "eyJrIjoi", rf"{_BASE64}{{50,}}+=*+"),
    *_token("new-relic", "NRAK- NRAA- NRII- NRRA- NRIQ- NRJS-", rf"{_URLSAFE}{{19,}}+", needs_digit=True),
    *_token("sentry", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_-]{40,}+"),
    *_token("atlassian", "ATATT3 ATCTT3", r"[A-Za-z0-9_=-]{50,}+"),
    *_token("atlassian", "ATBB", r"[A-Za-z0-9]{24,}+", needs_digit=True),
    *_token("1password", "ops_eyJ", rf"{_BASE64}{{60,}}+=*+"),
    *_token("artifactory", "AKCp", r"[A-Za-z0-9]{50,}+"),
    *_token("artifactory", "cmVmdGtu", rf"{_BASE64}{{40,}}+"),
    *_token("docker-hub", "dckr_pat_ dckr_oat_", rf"{_URLSAFE}{{20,}}+"),
    *_token("postman", "PMAK-", r"[a-f0-9]{24}-[a-f0-9]{34}"),
    *_token("rubygems", "rubygems_", r"[a-f0-9]{48}"),
    *_token("crates-io", "cio", rf"[A-Za-z0-9]{{32}}{_END}", needs_digit=True),
    *_token("square", "sq0atp- sq0csp- sq0idp-", rf"{_URLSAFE}{{20,}}+"),
    *_token("sourcegraph", "sgp_", r"(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40,}+"),
    *_token("sourcegraph", "slk_", r"[a-f0-9]{64}"),
    *_token("sonarqube", "squ_ sqp_ sqa_", r"[a-f0-9]{40}"),
    *_token("buildkite", "bkua_", r"[a-z0-9]{40}"),
    *_token("circleci", "CCIPAT_", r"[A-Za-z0-9_]{40,}+"),
    *_token("supabase", "sbp_", r"[a-z0-9]{40}"),
    *_token("supabase", "sb_secret_", rf"{_URLSAFE}{{20,}}+"),
    *_token("typeform", "tfp_", r"[A-Za-z0-9_.-]{40,}+"),
    *_token("adafruit", "aio_", rf"[A-Za-z0-9]{{28}}{_END}"),
    *_token("airtable", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    *_token("alibaba", "LTAI", rf"[A-Za-z0-9]{{17,21}}{_END}", needs_digit=True),
    *_token("tailscale", "tskey-", rf"[a-z]{{3,12}}-{_URLSAFE}{{12,}}+", needs_digit=True),
    *_token("fly-io", "fm1a_ fm1r_ fm2_", rf"{_BASE64}{{60,}}+=*+"),
    *_token("fly-io", "fo1_", rf"{_URLSAFE}{{43}}"),
    *_token("pulumi", "pul-", r"[a-f0-9]{40}"),
    *_token("planetscale", "pscale_tkn_ pscale_oauth_ pscale_pw_", r"[A-Za-z0-9=_.-]{32,}+"),
    *_shape("mailgun", "mailgun", rf"{_LONE}key-[a-f0-9]{{32}}{_END}"),
    *_shape("infracost", "infracost", rf"{_LONE}ico-[A-Za-z0-9]{{32}}{_END}"),
    *_shape("mailchimp", "-us", rf"{_LONE}[0-9a-f]{{32}}-us[0-9]{{1,2}}{_END}"),
    *_token("mapbox", "sk.eyJ tk.eyJ", rf"{_URLSAFE}{{20,}}+\.{_URLSAFE}{{20,}}+"),
    *_token("dynatrace", "dt0c01.", r"[A-Z0-9]{24}\.[A-Z0-9]{60,}+"),
    *_token("easypost", "EZAK EZTK", r"[A-Za-z0-9]{54,}+", needs_digit=True),
    *_token("duffel", "duffel_test_ duffel_live_", r"[A-Za-z0-9_=-]{40,}+"),
    *_token("frame-io", "fio-u-", rf"{_URLSAFE}{{60,}}+"),
    *_token("readme", "rdme_", r"[a-z0-9]{70}"),
    *_token("prefect", "pnu_", r"[A-Za-z0-9]{36}"),
    *_token("shippo", "shippo_live_ shippo_test_", r"[a-fA-F0-9]{40}"),
    *_token("groq", "gsk_", r"[A-Za-z0-9]{40,}+"),
    *_token("xai", "xai-", rf"{_URLSAFE}{{60,}}+", needs_digit=True),
    *_token("perplexity", "pplx-", r"[A-Za-z0-9]{40,}+"),
    *_token("replicate", "r8_", rf"{_URLSAFE}{{37,}}+", needs_digit=True),
    *_token("tavily", "tvly-", rf"{_URLSAFE}{{28,}}+", needs_digit=True),
    *_token("nvidia", "nvapi-", rf"{_URLSAFE}{{50,}}+", needs_digit=True),
    *_token("figma", "figd_", rf"{_URLSAFE}{{36,}}+", needs_digit=True),
    *_token("posthog", "phx_", rf"{_URLSAFE}{{40,}}+", needs_digit=True),
    *_token("hubspot", "pat-na1- pat-eu1-", r"[0-9a-f]{8}-[0-9a-f-]{27}"),
    *_token("devin", "apk_", r"[A-Za-z0-9_]{60,}+", needs_digit=True),
    *_token("cockroach", "CCDB1_", r"[A-Za-z0-9_]{50,}+"),
    *_token("twitch", "live_", r"\d{8,12}_[A-Za-z0-9]{20,}+"),
    *_token("intra42", "s-s4t2ud- s-s4t2af-", r"[a-f0-9]{64}"),
    *_token("dependency-track", "odt_", r"[A-Za-z0-9]{32,}+"),
    *_token("facebook", "EAA EACE EAD", r"(?<![+/]EA[ACD])(?<![+/]EACE)[A-Za-z0-9]{90,}+(?![+/=])", needs_digit=True),
    *_shape("facebook", "facebook", r"(?<!\d)\d{13,16}\|(?P<secret>[A-Za-z0-9_-]{27})"),
    *_token("dropbox", "sl.", rf"(?:u\.)?{_URLSAFE}{{120,}}+"),
    *_token("nuget", "oy2", rf"[a-z0-9]{{43}}{_END}"),
    *_token("clojars", "CLOJARS_", r"[a-z0-9]{60}"),
    *_token("jwt", "eyJ", rf"{_URLSAFE}{{8,}}+\.eyJ{_URLSAFE}{{8,}}+(?:\.{_URLSAFE}*+)?"),
    *_shape("password-hash", "$2a$|$2b$|$2y$", r"\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}"),
    *_shape("password-hash", "$1$|$5$|$6$", r"\$[156]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22,}+"),
    *_shape("password-hash", "$argon2", r"\$argon2(?:id|i|d)\$[^\s\"']{20,200}"),
    *_shape("kerberos", "$krb5", r"\$krb5(?:asrep|tgs|pa)\$[^\s\"']{40,}+"),
    *_shape(
        "url-password",
        "://",
        r"://[^\s/?#:@\"'<>\\]{0,100}+:(?P<secret>[^\s/?#@\"'<>\\]{3,256}+)@(?=[A-Za-z0-9\[$])",
    ),
    *_shape(
        "authorization",
        "authorization",
        rf"{_HEADER}(?i:bearer|basic|token|apikey|bot|negotiate)\s{{1,4}}(?P<secret>[A-Za-z0-9._~+/=:%|-]{{8,}}+)",
    ),
    *_shape(
        "authorization",
        "authorization",
        rf"{_HEADER}(?:[A-Za-z-]{{2,16}}+\s{{1,4}})?(?P<secret>[A-Za-z0-9._~+/=%-]{{16,}}+)",
        needs_digit=True,
    ),
    *_shape(
        "authorization",
        "bearer",
        r"(?<![A-Za-z])(?i:bearer):?\s{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{16,}+)",
        needs_digit=True,
    ),
    *_shape(
        "cookie",
        "cookie",
        r"(?i:cookie)\\?[\"']?\s{0,4}:\s{0,4}\\?[\"']?"
        r"(?P<secret>[A-Za-z0-9_.$%-]{1,100}+=[^\s;\"'\\]{8,}+[^\r\n\"'\\]*+)",
    ),
    *_shape(
        "netrc",
        "machine",
        r"(?<![A-Za-z])login\s{1,8}[^\s]{1,100}+\s{1,8}password\s{1,8}(?P<secret>\S{4,}+)",
    ),
    *_shape(
        "connection-string",
        "user id=|uid=|data source=",
        r"(?i:[;\s]|^|&\s\")(?i:password|pwd)\s?=\s?(?P<secret>[^;\"'\s\[{<]{4,}+)",
    ),
    *_shape(
        "basic-auth",
        "curl",
        r"\s(?:-u|--user)[ =]{0,3}[\"']{0,2}[^\s:\"'$]{0,64}+[\"']{0,2}:[\"']{0,2}(?P<secret>[^\s\"'$]{4,}+)",
    ),
)
"""Every rule, the surest first: of two that overlap, the earlier one names the replacement."""
