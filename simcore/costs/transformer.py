"""Parameters and FLOPs of a decoder-only transformer (MODEL section 3).

Matrices only for the FLOPs; a stage's parameters count its norms, the first stage's the token
embedding and the last stage's the head. A model that ties the two keeps a copy at either end, as
pipelines do. Positions and biases are left out: below 0.1 % of any model of the catalogue.
"""

from dataclasses import dataclass

from simcore.scenario.catalogue import MODELS
from simcore.scenario.document import LayeredModel, PresetModel

FFN_PER_HIDDEN = 4
"""Width of the feed-forward part where a document does not say: that of GPT-2 and GPT-3."""


@dataclass(frozen=True, slots=True)
class Transformer:
    """A model's dimensions, every one known."""

    layers: int
    hidden_size: int
    attention_heads: int
    kv_heads: int
    ffn_size: int
    gated_mlp: bool
    vocab_size: int
    sequence_length: int

    @property
    def kv_size(self) -> float:
        """Return the width of keys, and of values."""
        return self.hidden_size * self.kv_heads / self.attention_heads

    @property
    def layer_matrix_parameters(self) -> float:
        """Return the parameters of one layer's matrices: query, key, value, output, feed-forward."""
        attention = 2 * self.hidden_size**2 + 2 * self.hidden_size * self.kv_size
        return attention + (3 if self.gated_mlp else 2) * self.hidden_size * self.ffn_size

    @property
    def layer_parameters(self) -> float:
        """Return all parameters of one layer: its matrices and two norms."""
        return self.layer_matrix_parameters + 2 * self.hidden_size

    @property
    def embedding_parameters(self) -> int:
        """Return the parameters of the token embedding, and of the head."""
        return self.vocab_size * self.hidden_size

    @property
    def parameters(self) -> float:
        """Return the parameters of the whole model, embedding and head counted apart.

        Examples
        --------
        >>> round(transformer(PresetModel(preset="llama-3-8b")).parameters / 1e9, 2)
        8.03
        """
        return self.layers * self.layer_parameters + 2 * self.embedding_parameters

    def stage_layers(self, num_stages: int) -> list[int]:
        """Return the layers of each stage: dealt evenly, the remainder to the first stages."""
        share, remainder = divmod(self.layers, num_stages)
        return [share + (stage < remainder) for stage in range(num_stages)]

    def stage_parameters(self, num_stages: int) -> list[float]:
        """Return the parameters of each stage."""
        parameters = [layers * self.layer_parameters for layers in self.stage_layers(num_stages)]
        parameters[0] += self.embedding_parameters
        parameters[-1] += self.embedding_parameters
        return parameters

    def layer_forward_flops(self, sequences: int) -> float:
        """Return the FLOPs of one layer's forward of `sequences` full sequences.

        The attention's score matrix counts in full, as in Narayanan et al. 2021, although half of it
        is masked.
        """
        tokens = sequences * self.sequence_length
        attention = 4 * tokens * self.sequence_length * self.hidden_size
        return 2 * tokens * self.layer_matrix_parameters + attention

    def head_forward_flops(self, sequences: int) -> float:
        """Return the FLOPs of the language-model head's forward."""
        return 2 * sequences * self.sequence_length * self.embedding_parameters

    def stage_forward_flops(self, num_stages: int, sequences: int) -> list[float]:
        """Return the FLOPs of each stage's forward of one microbatch."""
        flops = [layers * self.layer_forward_flops(sequences) for layers in self.stage_layers(num_stages)]
        flops[-1] += self.head_forward_flops(sequences)
        return flops


def transformer(model: PresetModel | LayeredModel) -> Transformer:
    """Return the dimensions of a document's model, what it leaves open filled in."""
    if isinstance(model, PresetModel):
        entry = MODELS[model.preset]
        return Transformer(
            layers=entry.layers,
            hidden_size=entry.hidden_size,
            attention_heads=entry.attention_heads,
            kv_heads=entry.kv_heads,
            ffn_size=entry.ffn_size,
            gated_mlp=entry.gated_mlp,
            vocab_size=entry.vocab_size,
            sequence_length=entry.sequence_length,
        )
    return Transformer(
        layers=model.layers,
        hidden_size=model.hidden_size,
        attention_heads=model.attention_heads,
        kv_heads=model.kv_heads or model.attention_heads,
        ffn_size=model.ffn_size or FFN_PER_HIDDEN * model.hidden_size,
        gated_mlp=model.gated_mlp,
        vocab_size=model.vocab_size,
        sequence_length=model.sequence_length,
    )
