import subprocess
import sys
from pathlib import Path

import apsw

ALLOWED = {
    *("sys", "os", "posix", "stat", "errno", "time", "apsw", "_json", "_blake2", "_thread", "select", "math"),
    *("unicodedata", "_socket", "fcntl", "__future__"),
    # What `os` itself brings.
    *("_collections_abc", "_stat", "abc", "_abc", "genericpath", "os.path", "posixpath"),
}
CODE = """
import sys
sys.path[:0] = sys.argv[1:]
before = set(sys.modules)
import upheld.context
print("\\n".join(sorted(set(sys.modules) - before)))
"""


def test_the_package_imports_only_what_the_hook_may() -> None:
    source = str(Path(__file__).parents[3] / "src")
    site = str(Path(apsw.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", CODE, source, site], check=True, capture_output=True, text=True
    )
    imported = {name for name in done.stdout.split() if not name.startswith(("upheld", "apsw."))}
    assert imported <= ALLOWED
    assert "upheld.context.declared" not in done.stdout.split()
    assert "upheld.context.code" in done.stdout.split()
