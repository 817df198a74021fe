"""exact_lookup, soft_lookup, cosine_similarity."""

import math

import numpy as np
import pytest

import attention_core as ac
from core_calls import BATCH, D_K, D_V, HEADS, L, S, normal

WORDS = ["人工智能", "神经网络", "深度学习"]


class TestExactLookup:
    def test_found(self):
        assert ac.exact_lookup("神经网络", WORDS, [1, 2, 3]) == 2

    @pytest.mark.parametrize("query", ["机器学习", "", "人工", "人工智能 ", 0, None])
    def test_not_found(self, query):
        with pytest.raises(KeyError, match="没有"):
            ac.exact_lookup(query, WORDS, [1, 2, 3])

    def test_vectors(self):
        keys, values = np.eye(3), np.array([[10.0], [20.0], [30.0]])
        np.testing.assert_array_equal(ac.exact_lookup([0, 1, 0], keys, values), [20])
        with pytest.raises(KeyError):
            ac.exact_lookup([0, 1, 1e-9], keys, values)

    def test_the_views_of_a_dictionary(self):
        animals = {"狗": "会叫", "猫": "会抓老鼠"}
        assert ac.exact_lookup("猫", animals.keys(), animals.values()) == "会抓老鼠"

    def test_the_first_of_equal_keys(self):
        assert ac.exact_lookup("a", ["b", "a", "a"], [0, 1, 2]) == 1

    def test_empty(self):
        with pytest.raises(KeyError):
            ac.exact_lookup("a", [], [])


class TestSoftLookup:
    def test_by_hand(self):
        # similarities 1, 0: shares e : 1
        blend, weights = ac.soft_lookup([1, 0], [[1, 0], [0, 1]], [[10], [20]])
        share = math.e / (math.e + 1)
        np.testing.assert_allclose(weights, [share, 1 - share], rtol=1e-14)
        np.testing.assert_allclose(blend, [10 * share + 20 * (1 - share)], rtol=1e-14)

    def test_temperature_joins_exact_lookup_and_the_mean(self):
        keys, values = np.eye(3), normal(3, D_V)
        cold, shares = ac.soft_lookup(keys[1], keys, values, temperature=0)
        np.testing.assert_array_equal(cold, ac.exact_lookup(keys[1], keys, values))
        np.testing.assert_array_equal(shares, [0, 1, 0])
        hot, shares = ac.soft_lookup(keys[1], keys, values, temperature=np.inf)
        np.testing.assert_allclose(hot, values.mean(axis=0))
        np.testing.assert_allclose(shares, [1 / 3] * 3)

    def test_scale_and_temperature_undo_each_other(self):
        query, keys, values = normal(D_K), normal(S, D_K), normal(S, D_V)
        plain = ac.soft_lookup(query, keys, values)
        assert plain[0].shape == (D_V,)
        assert plain[1].shape == (S,)
        both = ac.soft_lookup(query, keys, values, scale=4, temperature=4)
        np.testing.assert_allclose(both[0], plain[0], rtol=1e-12)
        sharper = ac.soft_lookup(query, keys, values, scale=4)[1]
        np.testing.assert_allclose(sharper, ac.soft_lookup(query, keys, values, temperature=0.25)[1], rtol=1e-12)

    def test_default_scale_is_one(self):
        # d_k = 4: with attention's default scale the odds would be e^2, not e^4
        _, weights = ac.soft_lookup(np.ones(4), [[1] * 4, [0] * 4], [[0], [0]])
        assert weights[0] / weights[1] == pytest.approx(math.exp(4))

    def test_empty_dictionary(self):
        blend, weights = ac.soft_lookup(np.ones(2), np.ones((0, 2)), np.ones((0, 3)))
        np.testing.assert_array_equal(blend, np.zeros(3))
        assert weights.shape == (0,)


class TestCosineSimilarity:
    def test_angles(self):
        # unit vectors at 0, 30, 60, 90, 180 degrees
        angles = np.radians([0, 30, 60, 90, 180])
        vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        similarity = ac.cosine_similarity(vectors[:1], vectors)
        np.testing.assert_allclose(similarity, [[1, 3**0.5 / 2, 0.5, 0, -1]], atol=1e-15)

    @pytest.mark.parametrize("length", [1e-300, 1e-9, 3.0, 1e150, 1e300])
    def test_length_does_not_count(self, length):
        query, key = normal(L, D_K), normal(S, D_K)
        similarity = ac.cosine_similarity(query, key)
        np.testing.assert_allclose(ac.cosine_similarity(query * length, key), similarity)
        np.testing.assert_allclose(ac.cosine_similarity(query, key * length), similarity)

    def test_short_and_long_vectors_side_by_side(self):
        # each is measured by its own length: 1e-200 squared is 0, 1e200 squared is inf
        vectors = np.array([[3e-200, 4e-200], [3e200, 4e200], [1e200, 0]])
        expected = [[1, 1, 0.6], [1, 1, 0.6], [0.6, 0.6, 1]]
        np.testing.assert_allclose(ac.cosine_similarity(vectors, vectors), expected, rtol=1e-14)

    def test_a_zero_vector_is_like_nothing(self):
        np.testing.assert_array_equal(ac.cosine_similarity([[0, 0], [1, 0]], [[0, 0], [2, 0]]), [[0, 0], [0, 1]])

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_rounding_does_not_leave_minus_one_to_one(self, dtype):
        x = np.random.default_rng(0).standard_normal((200, 7)).astype(dtype)
        similarity = ac.cosine_similarity(x, np.concatenate([x, -x]))
        assert np.isfinite(np.arccos(similarity)).all()
        np.testing.assert_allclose(similarity.diagonal(), 1, rtol=1e-6)

    def test_an_infinite_vector_spoils_only_its_own_row(self):
        similarity = ac.cosine_similarity([[np.inf, 1], [0, 3]], [[1, 0], [0, 1]])
        assert np.isnan(similarity[0]).all()
        np.testing.assert_array_equal(similarity[1], [0, 1])

    def test_symmetric_and_broadcast(self):
        query, key = normal(BATCH, 1, L, D_K), normal(HEADS, S, D_K)
        similarity = ac.cosine_similarity(query, key)
        assert similarity.shape == (BATCH, HEADS, L, S)
        assert (np.abs(similarity) <= 1 + 1e-15).all()
        back = ac.cosine_similarity(key, query)
        np.testing.assert_allclose(back.swapaxes(-1, -2), similarity, rtol=1e-12, atol=1e-15)

    def test_float16_long_vectors(self):
        # the squared length 4e6 of (1000, ... 4 times) does not fit float16
        vectors = np.full((1, 4), 1000, np.float16)
        similarity = ac.cosine_similarity(vectors, -vectors)
        assert similarity.dtype == np.float16
        np.testing.assert_allclose(similarity, [[-1]], atol=1e-3)

    def test_empty(self):
        assert ac.cosine_similarity(np.ones((0, 3)), np.ones((4, 3))).shape == (0, 4)
        np.testing.assert_array_equal(ac.cosine_similarity(np.ones((2, 0)), np.ones((3, 0))), 0)
