"""How long a prompt takes: in all, on each shard, and between shards (MODEL section 8)."""

import numpy as np
from numpy.typing import NDArray

from simcore.scenario.catalogue import MODELS, ModelEntry
from simcore.scenario.document import Datacenter, Inference, LayeredModel, PresetModel, TablePrefill
from simcore.units import S_PER_MS, S_PER_US, bytes_per_s_from_gbps

Ints = NDArray[np.int64]

LONGEST_NS = 2**62
"""Longer than any horizon. What takes longer still is given as this: it cannot be placed either way."""


def whole_ns(seconds: NDArray[np.float64]) -> Ints:
    """Return seconds as whole nanoseconds, halves rounded up, `LONGEST_NS` at most.

    Parameters
    ----------
    seconds : NDArray[float64]
        >= 0, infinity included.
    """
    return np.minimum(np.floor(seconds * 1e9 + 0.5), float(LONGEST_NS)).astype(np.int64)


def prefill_ns(prefill: TablePrefill, tokens: Ints) -> Ints:
    """Return what whole prompts take, shape (num_prompts,).

    Linear between the rows of the table; the first value below it; the last slope above it. The
    order of the operations is part of the model: halves of a nanosecond depend on it.

    Parameters
    ----------
    prefill : TablePrefill
        At least one row; tokens increase.
    tokens : NDArray[int64]
        Prompt lengths, >= 1, shape (num_prompts,).
    """
    x = np.array([row[0] for row in prefill.table], dtype=np.int64)
    y = np.array([row[1] for row in prefill.table], dtype=np.float64)
    if len(x) == 1:
        return whole_ns(np.full(len(tokens), y[0] * S_PER_MS))
    above = np.clip(np.searchsorted(x, tokens, side="right"), 1, len(x) - 1)
    x0, x1, y0, y1 = x[above - 1], x[above], y[above - 1], y[above]
    milliseconds = y0 + (y1 - y0) * (tokens - x0) / (x1 - x0)
    return whole_ns(np.where(tokens <= x[0], y[0], milliseconds) * S_PER_MS)


def shard_ns(whole_prefill_ns: Ints, shards: int) -> Ints:
    """Return what a prompt takes on each of `shards` workers in turn, rounded up."""
    return -(-whole_prefill_ns // shards)


def hidden_size(inference: Inference) -> int:
    """Return the width of the served model."""
    return _dimensions(inference).hidden_size


def hop_ns(inference: Inference, datacenter: Datacenter, tokens: Ints) -> Ints:
    """Return what handing prompts to the next shard takes in a datacenter, bytes and latency together."""
    bytes_per_token = inference.hop_bytes_per_token
    if bytes_per_token is None:
        bytes_per_token = 2 * hidden_size(inference)
    rate_bytes_per_s = bytes_per_s_from_gbps(datacenter.intra_gbps)
    with np.errstate(over="ignore"):
        transfer_s: NDArray[np.float64] = tokens.astype(np.float64) * bytes_per_token / rate_bytes_per_s
        return whole_ns(transfer_s + datacenter.intra_latency_us * S_PER_US)


def kv_bytes_per_token(inference: Inference) -> int | None:
    """Return bytes of keys and values that one token hands over to decode; None for heads of uneven size.

    Two bytes a number; keys and values; every layer and key-value head.
    """
    model = _dimensions(inference)
    if model.hidden_size % model.attention_heads:
        return None
    kv_heads = model.attention_heads if model.kv_heads is None else model.kv_heads
    return 2 * 2 * model.layers * kv_heads * (model.hidden_size // model.attention_heads)


def _dimensions(inference: Inference) -> ModelEntry | LayeredModel:
    model = inference.model
    return MODELS[model.preset] if isinstance(model, PresetModel) else model
