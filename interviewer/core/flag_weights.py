"""Weights of the committee's flags: all from VERSION on is written by ``python -m serving.train.flags``."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from interviewer.core.assessment import Frozen


class FlagWeights(Frozen):
    """Weights of one flag, in log odds."""

    bias: float
    levels: Mapping[str, tuple[float, float, float, float]]
    """For each criterion that the flag rests on: that it was assessed, P(level 0), P(level 1), P(level 3)."""
    overall: tuple[float, float] = (0.0, 0.0)
    """Mean of P(level 0) and of P(level 3) over all criteria that were assessed."""
    sentence: Mapping[str, float] = Field(default_factory=dict)
    """Cues of the sentence that speaks most for the flag."""
    whole: Mapping[str, float] = Field(default_factory=dict)
    """Cues of all that was said."""


VERSION = "2d14b00f"

WEIGHTS: Mapping[str, FlagWeights] = {
    "knows_tools_not_tradeoffs": FlagWeights(
        bias=-5.131,
        levels={
            "tradeoff_reasoning": (0.918, 0.742, 1.13, -0.988),
            "finetuning_judgement": (0.52, -0.438, 1.037, -0.372),
            "llm_serving_depth": (-0.163, 0.063, -0.23, -0.709),
            "problem_framing": (0.491, 0.032, 0.264, 0.114),
            "managing_uncertainty": (0.062, -0.007, 0.023, -0.327),
            "hands_on_specificity": (0.546, -0.713, 0.093, 0.26),
            "measurement": (0.345, 0.31, 0.017, 0.105),
            "constraint_adaptation": (-0.436, -0.423, 1.096, -0.262),
        },
        overall=(1.813, -1.991),
        sentence={
            "listed": 5.682,
            "any_will_do": 3.935,
            "there_is": 1.239,
            "generic_virtue": -0.074,
        },
        whole={
            "stock_design": -0.563,
            "parts": 0.456,
            "theory": 0.013,
        },
    ),
    "strong_generalist_lacks_llm_intuition": FlagWeights(
        bias=-5.76,
        levels={
            "llm_serving_depth": (1.208, 1.4, 0.63, -0.596),
            "experience_transfer": (0.74, -0.247, 0.59, -0.333),
            "constraint_adaptation": (0.179, -0.213, 0.475, 0.193),
            "managing_uncertainty": (-0.207, 1.157, 0.572, -1.13),
            "intellectual_honesty": (-0.923, 1.07, -0.597, 0.091),
            "problem_framing": (-0.296, -0.015, -0.083, -0.167),
        },
        overall=(0.423, -0.503),
        sentence={
            "generic_ops": 2.853,
            "like_any_service": 0.711,
        },
        whole={
            "llm_mechanics": -2.499,
            "generic_ops": 4.014,
            "hedge": 0.086,
            "hard_claim": 0.005,
            "parts": 0.19,
        },
    ),
    "recites_architecture": FlagWeights(
        bias=-8.14,
        levels={
            "problem_framing": (0.62, 0.671, 0.372, -0.474),
            "tradeoff_reasoning": (0.612, 0.106, -0.47, 0.12),
            "llm_serving_depth": (-0.143, 0.707, -0.033, -0.521),
        },
        overall=(1.44, -1.032),
        sentence={
            "parts": 4.347,
            "stock_design": 2.961,
            "listed": 0.839,
        },
        whole={
            "parts": 3.782,
        },
    ),
    "deterministic_mindset": FlagWeights(
        bias=-5.554,
        levels={
            "managing_uncertainty": (1.84, 2.056, 1.924, -2.057),
            "intellectual_honesty": (-0.033, 0.627, -0.213, -0.494),
            "experience_transfer": (-0.023, 0.441, 0.301, 0.021),
        },
        overall=(0.703, -1.691),
        sentence={
            "temperature_zero": 1.921,
            "cannot_happen": 4.382,
            "tests": 3.633,
        },
        whole={
            "temperature_zero": 3.657,
        },
    ),
    "theory_without_constraint": FlagWeights(
        bias=-10.034,
        levels={
            "tradeoff_reasoning": (0.123, 0.693, 0.4, -0.642),
            "measurement": (0.778, 1.04, 0.482, -0.3),
            "llm_serving_depth": (0.564, 0.373, 0.528, -0.285),
            "experience_transfer": (0.709, 0.117, 0.425, -0.111),
        },
        overall=(0.085, -0.555),
        sentence={
            "theory": 4.992,
        },
        whole={
            "theory": 5.742,
        },
    ),
    "no_business_narrative": FlagWeights(
        bias=-6.249,
        levels={
            "business_impact": (3.159, 1.988, 1.775, -1.285),
            "measurement": (0.626, -0.045, 0.316, -0.123),
        },
        overall=(0.447, -1.344),
        sentence={
            "technical_pride": 2.189,
        },
        whole={
            "people_money": -1.704,
            "technical_pride": 3.175,
        },
    ),
    "throughput_tunnel_vision": FlagWeights(
        bias=-8.054,
        levels={
            "measurement": (0.768, -0.1, 0.605, -0.593),
            "llm_serving_depth": (0.852, 0.924, 0.866, -0.662),
            "constraint_adaptation": (0.343, 0.72, 0.866, -0.846),
            "tradeoff_reasoning": (0.593, 0.259, 0.624, -0.554),
        },
        overall=(0.549, -0.88),
        sentence={
            "throughput": 2.266,
            "only_metric": 4.743,
        },
        whole={
            "tail": -0.918,
            "throughput": 4.955,
        },
    ),
    "more_is_better": FlagWeights(
        bias=-6.421,
        levels={
            "finetuning_judgement": (0.699, 1.416, 1.602, -2.137),
            "data_intuition": (0.881, 0.688, 0.159, 0.37),
            "tradeoff_reasoning": (0.203, 0.423, 0.379, -0.427),
        },
        overall=(1.561, -1.588),
        sentence={
            "bigger": 3.067,
        },
        whole={
            "bigger": 3.903,
        },
    ),
    "api_tourist": FlagWeights(
        bias=-5.882,
        levels={
            "hands_on_specificity": (2.074, 2.008, 1.326, -0.634),
            "implementation_correctness": (0.241, 0.656, 0.115, -0.288),
            "llm_serving_depth": (0.21, 0.381, 0.597, -0.434),
        },
        overall=(0.995, -1.423),
        sentence={
            "chat_only": 3.404,
            "not_mine": 2.859,
        },
        whole={
            "chat_only": 5.246,
        },
    ),
    "bluffing": FlagWeights(
        bias=-3.957,
        levels={
            "intellectual_honesty": (2.143, 0.661, 1.074, -1.408),
            "llm_serving_depth": (-0.016, 1.464, 0.325, -0.703),
            "measurement": (0.103, -0.89, 1.293, -0.382),
        },
        overall=(2.644, -2.819),
        sentence={
            "hard_claim": 1.697,
        },
        whole={
            "hedge": -4.39,
            "hard_claim": 1.424,
        },
    ),
    "blames_others": FlagWeights(
        bias=-5.39,
        levels={
            "failure_reflection": (1.483, 1.835, 1.509, -0.972),
            "stakeholder_decision": (1.178, 0.574, -0.027, -0.205),
        },
        overall=(0.924, -0.845),
        sentence={
            "blame": 2.74,
        },
        whole={
            "own_cause": -1.743,
            "blame": 2.094,
        },
    ),
    "decision_chain": FlagWeights(
        bias=-8.928,
        levels={
            "tradeoff_reasoning": (1.416, -1.751, 0.427, 1.325),
            "finetuning_judgement": (1.309, -1.045, 0.139, 1.033),
            "llm_serving_depth": (-0.449, -0.839, 0.13, 0.419),
            "constraint_adaptation": (0.883, -1.054, 0.094, 0.68),
            "managing_uncertainty": (0.609, -0.412, 0.389, -0.452),
        },
        overall=(-1.281, 0.995),
        sentence={
            "condition": 1.332,
            "link": 3.313,
        },
        whole={
            "condition": 1.226,
            "link": 1.56,
        },
    ),
    "product_sense": FlagWeights(
        bias=-4.382,
        levels={
            "business_impact": (1.861, -2.287, -0.489, 1.027),
            "tradeoff_reasoning": (0.462, -0.791, 0.9, -0.395),
            "experience_transfer": (0.122, -0.628, -0.297, 0.771),
        },
        overall=(-1.296, 0.714),
        sentence={
            "second_order": 0.998,
            "loser_accepted": -0.702,
            "people_money": 1.804,
        },
        whole={
            "second_order": 1.423,
            "loser_accepted": 2.385,
        },
    ),
    "honest_about_limits": FlagWeights(
        bias=-5.056,
        levels={
            "intellectual_honesty": (3.204, -2.975, -0.438, 1.681),
        },
        overall=(-1.5, -0.208),
        sentence={
            "hedge": 1.664,
            "settle": 2.719,
        },
        whole={
            "hedge": 1.869,
        },
    ),
}
