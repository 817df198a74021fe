"""Attention by its definition, in plain Python numbers and loops: slow, and not numpy's.

The tests compare the core with this; it shares no code and no vectorised idea with it.
"""

import math


def softmax_row(scores, visible, temperature):
    """Weights of one row; the limits at temperature 0 and infinity written out."""
    seen = [s for s, look in zip(scores, visible, strict=True) if look and s > -math.inf]
    top = max(seen, default=-math.inf)
    shares = []
    for s, look in zip(scores, visible, strict=True):
        if not look or s == -math.inf:
            share = 0.0
        elif s == top:
            share = 1.0
        elif temperature == 0 or top == math.inf:
            share = 0.0
        else:
            share = math.exp((s - top) / temperature)
        shares.append(share)
    total = math.fsum(shares)
    return [share / total if total else 0.0 for share in shares]


def attention(query, key, value, visible, scale, temperature):
    """Output and weights of one head: query (L, d_k), key (S, d_k), value (S, d_v)."""
    rows = []
    for q, looks in zip(query, visible, strict=True):
        scores = [scale * math.fsum(a * b for a, b in zip(q, k, strict=True)) for k in key]
        rows.append(softmax_row(scores, looks, temperature))
    columns = list(zip(*value, strict=True))
    output = [[math.fsum(w * v for w, v in zip(row, column, strict=True)) for column in columns] for row in rows]
    return output, rows
