"""Encoders of the BERT kind: full attention in both directions, no state.

Devlin et al. (2019), "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding". An encoder
reads all positions at once, so no bound on a recurrent state applies; Theorem 4 holds for one of its layers, whichever
position is read out.
"""

from separatrix.communication.capacity.families._attention import AttentionConfig, attention_layers
from separatrix.communication.capacity.family import Family

FAMILY = Family(
    name="bert",
    title="BERT encoders",
    model_types=("bert", "roberta", "xlm-roberta", "camembert", "electra"),
    schema=AttentionConfig,
    layers=lambda config: attention_layers(config, [None] * config.num_hidden_layers),
    state="none: attention over all positions in both directions",
    source="Devlin et al. 2019",
)
