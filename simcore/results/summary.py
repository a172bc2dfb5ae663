"""A result in words: aligned lines with units, made from the figures alone."""

from typing import Any

_UNITS_NS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"))


def duration_text(duration_ns: float) -> str:
    """Return a duration in the unit that suits it.

    Examples
    --------
    >>> duration_text(1_495_266_000)
    '1.495266 s'
    >>> duration_text(12)
    '12 ns'
    """
    for factor, unit in _UNITS_NS:
        if duration_ns >= factor:
            return f"{duration_ns / factor:,.6f}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{duration_ns:.6g} ns"


def bytes_text(num_bytes: float) -> str:
    """Return a size in the unit that suits it; 1 MB is 1e6 bytes.

    Examples
    --------
    >>> bytes_text(4_300_800_000)
    '4.3008 GB'
    """
    for factor, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if num_bytes >= factor:
            return f"{num_bytes / factor:,.4f}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{num_bytes:.6g} bytes"


def _share(fraction: float) -> str:
    return f"{100 * fraction:.2f} %"


def summary(figures: dict[str, Any]) -> str:
    """Return the figures that people look for first, a line each, under the scenario's name."""
    inference = figures.get("inference")
    utilization = f"{_share(figures['gpu_utilization_training'])} by training"
    if inference is not None:
        utilization += f", {_share(inference['gpu_utilization_total'])} with prefill"
    lines = [
        ("iteration", f"{duration_text(figures['iteration_time_ns'])} ({figures['iteration_time_ns']:,} ns)"),
        ("GPU utilisation", utilization),
        ("operations", f"{figures['segments']:,} in a cell and iteration"),
        ("WAN transfers", f"{figures['wan_transfers']:,} in a cell and iteration"),
        ("WAN traffic", f"{bytes_text(figures['wan_bytes'])} an iteration, all cells"),
    ]
    if inference is not None:
        lines += _inference_lines(figures, inference)
    width = max(len(label) for label, _ in lines)
    return "\n".join([figures["name"], *(f"  {label:<{width}}  {text}" for label, text in lines)])


def _inference_lines(figures: dict[str, Any], inference: dict[str, Any]) -> list[tuple[str, str]]:
    served, filled_ns, idle_ns = inference["served"], inference["filled_ns"], inference["idle_ns"]
    of_idle = f" ({_share(filled_ns / idle_ns)})" if idle_ns else ""
    lines = [
        ("horizon", f"{figures['num_iterations']:,} iterations, {duration_text(figures['horizon_ns'])}"),
        ("replicas", f"{inference['groups']:,}"),
        (
            "requests",
            f"{served:,} served, {inference['rejected']:,} rejected, {inference['unplaceable']:,} unplaceable",
        ),
        ("idle time filled", f"{duration_text(filled_ns)} of {duration_text(idle_ns)}{of_idle}, all workers together"),
    ]
    if served:
        lines.append(("time to first token", f"{duration_text(inference['ttft_sum_ns'] / served)} on average"))
    return lines
