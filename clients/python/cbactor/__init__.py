"""Client for cbactor: generates text, pauses the engine, and changes its weights while it serves."""

from .client import Client, Status
from .errors import (
    APIError,
    BadRequest,
    CbactorError,
    Conflict,
    ConnectionFailed,
    HoldLost,
    NotFound,
    PathNotAllowed,
    ServerError,
    Unauthorized,
    Unavailable,
)
from .generating import Stream
from .pausing import Hold
from .results import Generation, Piece, Span, ToolCall, Usage
from .safetensors import read
from .sampling import Sampling
from .sync import Sent, WeightSync
from .tensors import Entry, Tensor, manifest
from .updates import Update
from .weights import WeightStatus

__all__ = [
    "APIError",
    "BadRequest",
    "CbactorError",
    "Client",
    "Conflict",
    "ConnectionFailed",
    "Entry",
    "Generation",
    "Hold",
    "HoldLost",
    "NotFound",
    "PathNotAllowed",
    "Piece",
    "Sampling",
    "Sent",
    "ServerError",
    "Span",
    "Status",
    "Stream",
    "Tensor",
    "ToolCall",
    "Unauthorized",
    "Unavailable",
    "Update",
    "Usage",
    "WeightStatus",
    "WeightSync",
    "manifest",
    "read",
]
