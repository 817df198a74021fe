"""The quick ways give what the plain ones give."""

import numpy as np
import pytest

from attention_core import _fast
from core_calls import normal

INF, NAN = np.inf, np.nan
# around the length at which the sum is taken piece by piece
LENGTHS = [0, 1, 9_999, 10_000, 10_001, 20_000, 20_001, 34_567]


@pytest.mark.parametrize("shapes", [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((4,), (4, 5))])
def test_matmul_is_numpys_to_the_bit(shapes):
    a, b = (normal(*shape) for shape in shapes)
    np.testing.assert_array_equal(_fast.matmul(a, b), a @ b)


@pytest.mark.parametrize("n", [1, 2])
def test_matmul_takes_zero_times_infinity_to_be_nan(n):
    # dot does not look at the other factor when one of them is a single 0
    bad = np.array([[INF], [NAN]])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(_fast.matmul(np.zeros((n, 1)), bad.T), np.full((n, 2), NAN))
        np.testing.assert_array_equal(_fast.matmul(bad, np.zeros((1, n))), np.full((2, n), NAN))


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5), (3, 0), (0, 5), (300, 700), (3, 10_001)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_row_sums(shape, dtype):
    x = normal(*shape, dtype=dtype)
    total = _fast.row_sums(x)
    assert total.dtype == dtype
    assert total.shape == (*shape[:-1], 1)
    # in double precision, numpy's own sum
    np.testing.assert_allclose(total, x.sum(axis=-1, keepdims=True, dtype=float), atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("length", LENGTHS)
def test_square_sum_misses_nothing(length):
    # 1 + 4 + ... + n**2 = n (n + 1) (2 n + 1) / 6, exact in float64 up to here
    x = np.arange(1.0, length + 1)
    assert _fast.square_sum(x) == pytest.approx(length * (length + 1) * (2 * length + 1) / 6, rel=1e-12)
    assert _fast.square_sum(np.ones((length, 1))) == length


@pytest.mark.parametrize("length", LENGTHS[1:])
@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_all_finite_sees_every_place(length, bad):
    x = np.ones(length)
    assert _fast.all_finite(x)
    for i in {0, length // 2, length - 1}:
        x[i] = bad
        assert not _fast.all_finite(x)
        x[i] = 1


@pytest.mark.parametrize(
    "shape", [(5,), (300_000,), (3, 4), (700, 800), (3, 5, 200, 300), (2, 300_000), (4, 1, 3, 100_000), (0, 4), (4, 0)]
)
def test_blocks_cover_everything_once_and_fit(shape):
    x = np.zeros(shape, np.float32)
    blocks = _fast.cache_blocks(x)
    for block in blocks:
        assert block.shape[-1] == shape[-1]   # a row is never cut
        assert block.size <= _fast._CACHE_SIZE or block.ndim == 1 or block.shape[:-1] == (1,) * (block.ndim - 1)
        block += 1   # views: this writes into x
    np.testing.assert_array_equal(x, np.ones(shape))
    others = _fast.cache_blocks(np.zeros(shape))
    assert [block.shape for block in blocks] == [block.shape for block in others]   # whatever the dtype
