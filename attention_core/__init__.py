"""注意力的计算，只用 numpy：三步 (steps)，连起来 (attention)，切成多头 (multihead)。

从 `attention_core.steps` 开始读，一刻钟可以读完。``figures``、``panels``、``exercises``
要用时再单独导入，``import attention_core`` 不会载入它们。
"""

from .attention import scaled_dot_product_attention
from .gradients import (
                        scaled_dot_product_attention_backward,
                        score_backward,
                        softmax_backward,
                        softmax_jacobian,
                        weighted_sum_backward,
)
from .lookup import cosine_similarity, exact_lookup, soft_lookup
from .masks import causal_mask, combine_masks, padding_mask
from .multihead import MultiHeadAttention, merge_heads, split_heads
from .recurrent import TanhRNN, note_shares
from .steps import score, softmax, weighted_sum
from .tiled import tiled_attention

__all__ = [
    "MultiHeadAttention",
    "TanhRNN",
    "causal_mask",
    "combine_masks",
    "cosine_similarity",
    "exact_lookup",
    "merge_heads",
    "note_shares",
    "padding_mask",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_backward",
    "score",
    "score_backward",
    "soft_lookup",
    "softmax",
    "softmax_backward",
    "softmax_jacobian",
    "split_heads",
    "tiled_attention",
    "weighted_sum",
    "weighted_sum_backward",
]
