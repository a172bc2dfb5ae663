"""The built-in catalogue: GPU types and language models, each number with its source."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GpuEntry:
    """A GPU type: dense BF16 peak, memory and its bandwidth."""

    id: str
    memory_gb: float
    bf16_tflops: float
    memory_gb_per_s: float
    source: str


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A decoder-only transformer by its dimensions."""

    id: str
    layers: int
    hidden_size: int
    attention_heads: int
    kv_heads: int
    ffn_size: int
    gated_mlp: bool
    vocab_size: int
    sequence_length: int
    source: str


GPUS: dict[str, GpuEntry] = {
    entry.id: entry
    for entry in (
        GpuEntry("v100-32gb", 32, 125, 900, "NVIDIA V100 datasheet, 2020 (FP16 tensor peak: no BF16)"),
        GpuEntry("a100-40gb", 40, 312, 1555, "NVIDIA A100 datasheet, 2021"),
        GpuEntry("a100-80gb", 80, 312, 2039, "NVIDIA A100 datasheet (SXM), 2021"),
        GpuEntry("h100-sxm", 80, 989.4, 3350, "NVIDIA H100 datasheet (SXM, dense), 2023"),
        GpuEntry("h100-pcie", 80, 756, 2000, "NVIDIA H100 datasheet (PCIe, dense), 2023"),
        GpuEntry("h200", 141, 989.4, 4800, "NVIDIA H200 datasheet (SXM, dense), 2024"),
        GpuEntry("b200", 180, 2250, 7700, "NVIDIA DGX B200 datasheet (per GPU, dense), 2024"),
        GpuEntry("l40s", 48, 362.05, 864, "NVIDIA L40S datasheet (dense), 2023"),
        GpuEntry("mi300x", 192, 1307.4, 5300, "AMD Instinct MI300X datasheet (dense), 2023"),
        GpuEntry("gh200", 96, 989.4, 4000, "NVIDIA GH200 datasheet (96 GB HBM3, dense), 2023"),
    )
}

MODELS: dict[str, ModelEntry] = {
    entry.id: entry
    for entry in (
        ModelEntry("gpt-3-175b", 96, 12288, 96, 96, 49152, False, 50257, 2048, "Brown et al. 2020, table 2.1"),
        ModelEntry("gpt-a", 12, 4096, 32, 32, 16384, False, 50257, 4096, "Atlas paper's GPT-A; heads, vocabulary ours"),
        ModelEntry("gpt-b", 12, 8192, 64, 64, 32768, False, 50257, 6144, "Atlas paper's GPT-B; heads, vocabulary ours"),
        ModelEntry("llama-2-7b", 32, 4096, 32, 32, 11008, True, 32000, 4096, "Llama 2 model card, 2023"),
        ModelEntry("llama-2-13b", 40, 5120, 40, 40, 13824, True, 32000, 4096, "Llama 2 model card, 2023"),
        ModelEntry("llama-2-70b", 80, 8192, 64, 8, 28672, True, 32000, 4096, "Llama 2 model card, 2023"),
        ModelEntry("llama-3-8b", 32, 4096, 32, 8, 14336, True, 128256, 8192, "Llama 3 model card, 2024"),
        ModelEntry("llama-3-70b", 80, 8192, 64, 8, 28672, True, 128256, 8192, "Llama 3 model card, 2024"),
        ModelEntry("llama-3-405b", 126, 16384, 128, 8, 53248, True, 128256, 131072, "Llama 3.1 model card, 2024"),
        ModelEntry("mistral-7b", 32, 4096, 32, 8, 14336, True, 32000, 32768, "Mistral 7B v0.2 config, 2024"),
        ModelEntry("qwen2.5-7b", 28, 3584, 28, 4, 18944, True, 152064, 32768, "Qwen2.5 config, 2024"),
        ModelEntry("qwen2.5-72b", 80, 8192, 64, 8, 29568, True, 152064, 32768, "Qwen2.5 config, 2024"),
        ModelEntry("opt-350m", 24, 1024, 16, 16, 4096, False, 50272, 2048, "Zhang et al. 2022 (OPT), table 1"),
        ModelEntry("gpt-neo-2.7b", 32, 2560, 20, 20, 10240, False, 50257, 2048, "EleutherAI GPT-Neo config, 2021"),
    )
}
