"""Records how a decoder of your own decodes into a capture that triescope opens. docs/python.md has the page."""

from .recorder import Drafter, Node, OffRecorder, RecordError, Recorder, RecordWarning, Round
from .reader import Run, open  # noqa: A004

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """An adapter loads when it is asked for."""
    if name in ("transformers", "eagle", "llama_cpp"):
        import importlib

        return importlib.import_module(f"triescope.{name}")
    raise AttributeError(f"module 'triescope' has no attribute {name!r}")


__all__ = ["Drafter", "Node", "OffRecorder", "RecordError", "Recorder", "RecordWarning", "Round", "Run", "open", "__version__"]
