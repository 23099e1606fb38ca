"""Upheld: evidence-based memory for coding agents.

The public Python API is `Upheld` and what it hands out; errors are in `upheld.errors`. Names are loaded when first
used, since the hook imports this package on every prompt.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from upheld.api import Upheld as Upheld
    from upheld.errors import UpheldError as UpheldError

__all__ = ["Upheld", "UpheldError", "__version__"]
__version__ = "0.1.0.dev0"


def __getattr__(name: str) -> object:
    if name == "Upheld":
        from upheld.api import Upheld

        return Upheld
    if name == "UpheldError":
        from upheld.errors import UpheldError

        return UpheldError
    raise AttributeError(name)
