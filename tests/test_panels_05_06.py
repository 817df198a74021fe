"""The numbers that the panels of sections 5 and 6 state."""

import re

import numpy as np
import pytest

from attention_core.panels import section_05, section_06


def numbers_in(finding):
    return [float(found) for found in re.findall(r"\d+(?:\.\d+)?", finding)]


def weights_in(block):
    """The second column of a bars block, as its alternative text states it."""
    return re.findall(r"」(-?\d\.\d\d)", block.get("aria-label").split("权重：")[1])


class TestScaling:
    @pytest.mark.parametrize("batch", [1, 3])
    @pytest.mark.parametrize("d_k", [4, 64, 1024])
    def test_scaling_is_the_temperature_root_d_k(self, d_k, batch):
        warm = section_05.render(d_k, float(np.sqrt(d_k)), batch).blocks[0]   # unscaled
        scaled = section_05.render(d_k, 1.0, batch).blocks[1]
        assert weights_in(warm) == weights_in(scaled)
        cold = section_05.render(d_k, 1.0, batch).blocks[0]
        assert weights_in(cold) != weights_in(scaled)

    def test_one_number_needs_no_scaling(self):
        plain, scaled, _ = section_05.render(1, 1.0, 1).blocks
        labels = [block.get("aria-label").removeprefix(block.find("text[@class='ac-title']").text)
                  for block in (plain, scaled)]
        assert labels[0] == labels[1]

    def test_typical_gradients(self):
        # Measured apart from this code, with 10 keys: .07 at d_k = 64, 5e-6 at 1024, .33 to .35 scaled.
        plain, scaled = section_05._typical_gradients(1.0)
        at = section_05.SIZES.index
        assert 0.04 < plain[at(64)] < 0.12
        assert 5e-7 < plain[at(1024)] < 5e-5
        assert plain[at(4)] > plain[at(1)]   # first it rises
        assert ((scaled > 0.3) & (scaled < 0.37)).all()

    @pytest.mark.parametrize("temperature", [0.0, np.inf])
    def test_no_gradient_at_the_limits(self, temperature):
        view = section_05.render(64, temperature, 1)
        assert numbers_in(view.finding)[-2:] == [0, 0]
        assert "恰好是 0" in view.blocks[2].find("*[@class='ac-title']").text


class TestSoftAndHard:
    @pytest.mark.parametrize(("extra", "winner"), [
        (0.0, "取「猫」；"), (3.09, "取「猫」；"), (3.1, "取「猫」和「马路」（打平）；"), (3.11, "取「马路」；"),
    ])
    def test_the_hard_choice_jumps_at_the_tie(self, extra, winner):
        assert winner in section_06.render(extra, 1.0).finding

    def test_share_and_slope(self):
        # The chapter's row at T = 1: 马路 has 1.1 of sum 82.08, so .0366 and p(1-p) = .0353.
        total = sum(np.exp([0.4, 0.3, 4.2, 0.2, 0.3, 1.1, 0.6, 0.5, 0.7, 0.4]))
        share = np.exp(1.1) / total
        assert numbers_in(section_06.render(0.0, 1.0).finding) == pytest.approx(
            [0.0, share, share * (1 - share)], abs=5e-5)

    def test_the_soft_share_moves_at_once_and_never_jumps(self):
        soft, hard = section_06._shares(1.0), section_06._shares(0.0)
        steps = np.diff(soft)
        # A step of .01 times the slope, and p(1-p) is at most 1/4.
        assert (steps > 0).all()
        assert steps.max() <= 0.0025
        assert set(hard) == {0.0, 0.5, 1.0}
        assert np.flatnonzero(hard == 0.5).tolist() == [310]
