"""The GPU of a datacenter, by its catalogue entry or as the document describes it."""

from dataclasses import dataclass

from simcore.scenario.catalogue import GPUS
from simcore.scenario.document import Datacenter

FLOPS_PER_TFLOPS = 1e12
BYTES_PER_GB = 1e9


@dataclass(frozen=True, slots=True)
class GpuSpec:
    """What counts of a GPU."""

    id: str
    peak_flops_per_s: float
    """Dense BF16."""
    memory_bytes: float
    memory_bytes_per_s: float


def gpu_spec(datacenter: Datacenter) -> GpuSpec:
    """Return the GPU of a datacenter."""
    gpu = GPUS[datacenter.gpu] if isinstance(datacenter.gpu, str) else datacenter.gpu
    return GpuSpec(
        id=gpu.id,
        peak_flops_per_s=gpu.bf16_tflops * FLOPS_PER_TFLOPS,
        memory_bytes=gpu.memory_gb * BYTES_PER_GB,
        memory_bytes_per_s=gpu.memory_gb_per_s * BYTES_PER_GB,
    )
