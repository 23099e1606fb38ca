from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upheld.context.remotes import find_local_repository, local_path, main_remote, normalise_remote


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:A/B.git",
        "git@github.com:/A/B",
        "github.com:A/B.git/",
        "https://github.com/A/B",
        "https://GitHub.com/A/B.git",
        "https://user@github.com/A/B/",
        "https://user:s3cret@github.com:443/A/B.git",
        "https://x-access-token:p@ss@github.com/A/B.git",
        "http://github.com:80/A/B",
        "ssh://git@github.com/A/B.git",
        "ssh://git@github.com:22/A/B.git",
        "git+ssh://git@github.com/A/B",
        "git://github.com:9418/A/B.git//",
        "HTTPS://github.com/A/B?x=1#y",
        "  https://github.com/A/B\n",
        "https://github.com/%41/B",
    ],
)
def test_all_spellings_of_a_repository_are_one(url: str) -> None:
    assert normalise_remote(url) == "github.com/A/B"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("ssh://git@host:2222/a/b.git", "host:2222/a/b"),
        ("https://host:8443/a", "host:8443/a"),
        ("https://[2001:DB8::1]:8443/a", "[2001:db8::1]:8443/a"),
        ("git@[2001:db8::1]:a/b", "[2001:db8::1]/a/b"),
        ("host.xz:~user/repo", "host.xz/~user/repo"),
        ("https://host/a/../b", "host/a/../b"),
        ("https://host/用户/库.git", "host/用户/库"),
        ("https://host/%zz/a", "host/%zz/a"),
        ("https://host/", ""),
        ("https:///a", ""),
        ("/srv/git/a.git", ""),
        ("./a:b", ""),
        ("../a", ""),
        ("file:///srv/a", ""),
        ("C:/a/b", ""),
        ("ext::sh -c x", ""),
        ("https://host/a\nb", ""),
        ("", ""),
    ],
)
def test_other_urls(url: str, expected: str) -> None:
    assert normalise_remote(url) == expected


_WORD = st.text(alphabet="abcXYZ019-_", min_size=1, max_size=8)
_HOST = st.lists(_WORD, min_size=2, max_size=3).map(".".join)
_PATH = st.lists(_WORD, min_size=1, max_size=4).map("/".join)


@given(
    host=_HOST,
    path=_PATH,
    user=st.none() | _WORD,
    secret=st.none() | _WORD,
    form=st.sampled_from(["https", "http", "ssh", "git", "scp"]),
    ending=st.sampled_from(["", "/", ".git", ".git/"]),
)
def test_the_form_depends_on_host_and_path_alone(
    *, host: str, path: str, user: str | None, secret: str | None, form: str, ending: str
) -> None:
    login = "" if user is None else user + ("" if secret is None or form == "scp" else ":" + secret) + "@"
    url = f"{login}{host}:{path}{ending}" if form == "scp" else f"{form}://{login}{host}/{path}{ending}"
    assert normalise_remote(url) == f"{host.lower()}/{path}"


@given(st.text(max_size=60))
def test_any_text_has_a_stable_form_without_control_characters(url: str) -> None:
    once = normalise_remote(url)
    assert once == "" or once.isprintable()
    assert local_path(url) is None or normalise_remote(url) == ""


@given(host=_HOST, path=_PATH, secret=st.text(alphabet="!$&*()+,;=:@", min_size=1).map(lambda s: "SECRET" + s))
def test_no_secret_survives(host: str, path: str, secret: str) -> None:
    assert "SECRET" not in normalise_remote(f"https://user:{secret}@{host}/{path}")


def test_origin_is_the_main_remote_and_else_the_first() -> None:
    assert main_remote({"a": "1", "origin": "2"}) == "2"
    assert main_remote({"b": "1", "a": "2"}) == "1"
    assert main_remote({}) is None


def test_a_remote_on_this_machine_is_found_by_every_spelling(place: Any) -> None:
    repo = place.init("with space")
    place.git(repo, "worktree", "add", "-q", str(place.top / "tree"))
    bare = place.clone(repo, "bare.git", "--bare")
    for url, expected in (
        (str(repo), repo / ".git"),
        (f"{repo}/.git", repo / ".git"),
        (f"file://{repo}", repo / ".git"),
        (f"file://localhost{place.top}/with%20space", repo / ".git"),
        ("../with space", repo / ".git"),
        (str(place.top / "tree"), repo / ".git"),
        (str(place.top / "bare"), bare),
        (str(bare), bare),
    ):
        assert find_local_repository(url, str(repo)) == str(expected)
    for url in (str(place.top), "/nowhere", "https://github.com/a/b", "file://other/srv"):
        assert find_local_repository(url, str(repo)) is None
