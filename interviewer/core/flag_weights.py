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


VERSION = "2721e751"

WEIGHTS: Mapping[str, FlagWeights] = {
    "knows_tools_not_tradeoffs": FlagWeights(
        bias=-5.067,
        levels={
            "tradeoff_reasoning": (0.904, 0.732, 1.24, -1.268),
            "finetuning_judgement": (0.514, -0.427, 1.034, -0.38),
            "llm_serving_depth": (-0.193, 0.112, -0.29, -0.684),
            "problem_framing": (0.491, 0.053, 0.275, 0.093),
            "managing_uncertainty": (0.009, 0.031, 0.073, -0.304),
            "hands_on_specificity": (0.545, -0.693, 0.079, 0.267),
            "measurement": (0.309, 0.354, 0.02, 0.103),
            "constraint_adaptation": (-0.426, -0.41, 1.114, -0.274),
        },
        overall=(1.718, -1.953),
        sentence={
            "listed": 5.685,
            "any_will_do": 3.959,
            "there_is": 1.127,
            "generic_virtue": -0.046,
        },
        whole={
            "stock_design": -0.539,
            "parts": 0.411,
            "theory": 0.025,
        },
    ),
    "strong_generalist_lacks_llm_intuition": FlagWeights(
        bias=-5.759,
        levels={
            "llm_serving_depth": (1.209, 1.401, 0.628, -0.596),
            "experience_transfer": (0.74, -0.245, 0.593, -0.335),
            "constraint_adaptation": (0.179, -0.214, 0.475, 0.192),
            "managing_uncertainty": (-0.207, 1.156, 0.573, -1.13),
            "intellectual_honesty": (-0.922, 1.07, -0.596, 0.091),
            "problem_framing": (-0.291, -0.059, -0.05, -0.166),
        },
        overall=(0.413, -0.505),
        sentence={
            "generic_ops": 2.854,
            "like_any_service": 0.71,
        },
        whole={
            "llm_mechanics": -2.498,
            "generic_ops": 4.015,
            "hedge": 0.085,
            "hard_claim": 0.006,
            "parts": 0.19,
        },
    ),
    "recites_architecture": FlagWeights(
        bias=-8.074,
        levels={
            "problem_framing": (0.612, 0.674, 0.377, -0.482),
            "tradeoff_reasoning": (0.62, 0.072, -0.546, 0.233),
            "llm_serving_depth": (-0.149, 0.707, -0.033, -0.524),
        },
        overall=(1.444, -1.017),
        sentence={
            "parts": 4.348,
            "stock_design": 2.958,
            "listed": 0.867,
        },
        whole={
            "parts": 3.776,
        },
    ),
    "deterministic_mindset": FlagWeights(
        bias=-5.561,
        levels={
            "managing_uncertainty": (1.841, 2.043, 1.931, -2.057),
            "intellectual_honesty": (-0.034, 0.612, -0.211, -0.491),
            "experience_transfer": (-0.021, 0.443, 0.306, 0.02),
        },
        overall=(0.711, -1.676),
        sentence={
            "temperature_zero": 1.923,
            "cannot_happen": 4.388,
            "tests": 3.634,
        },
        whole={
            "temperature_zero": 3.657,
        },
    ),
    "theory_without_constraint": FlagWeights(
        bias=-10.036,
        levels={
            "tradeoff_reasoning": (0.123, 0.674, 0.41, -0.64),
            "measurement": (0.777, 1.034, 0.487, -0.299),
            "llm_serving_depth": (0.56, 0.379, 0.528, -0.282),
            "experience_transfer": (0.711, 0.121, 0.428, -0.113),
        },
        overall=(0.056, -0.557),
        sentence={
            "theory": 4.999,
        },
        whole={
            "theory": 5.749,
        },
    ),
    "no_business_narrative": FlagWeights(
        bias=-6.179,
        levels={
            "business_impact": (3.161, 1.986, 1.776, -1.284),
            "measurement": (0.628, -0.049, 0.313, -0.122),
        },
        overall=(0.447, -1.345),
        sentence={
            "technical_pride": 2.189,
        },
        whole={
            "people_money": -1.707,
            "technical_pride": 3.177,
        },
    ),
    "throughput_tunnel_vision": FlagWeights(
        bias=-8.055,
        levels={
            "measurement": (0.766, -0.102, 0.601, -0.591),
            "llm_serving_depth": (0.854, 0.923, 0.866, -0.661),
            "constraint_adaptation": (0.342, 0.714, 0.867, -0.845),
            "tradeoff_reasoning": (0.59, 0.287, 0.597, -0.547),
        },
        overall=(0.551, -0.876),
        sentence={
            "throughput": 2.266,
            "only_metric": 4.744,
        },
        whole={
            "tail": -0.917,
            "throughput": 4.958,
        },
    ),
    "more_is_better": FlagWeights(
        bias=-6.479,
        levels={
            "finetuning_judgement": (0.702, 1.417, 1.609, -2.148),
            "data_intuition": (0.882, 0.698, 0.16, 0.362),
            "tradeoff_reasoning": (0.175, 0.686, 0.175, -0.395),
        },
        overall=(1.523, -1.513),
        sentence={
            "bigger": 3.074,
        },
        whole={
            "bigger": 3.907,
        },
    ),
    "api_tourist": FlagWeights(
        bias=-5.886,
        levels={
            "hands_on_specificity": (2.074, 2.011, 1.318, -0.629),
            "implementation_correctness": (0.242, 0.655, 0.115, -0.287),
            "llm_serving_depth": (0.211, 0.381, 0.598, -0.434),
        },
        overall=(0.995, -1.423),
        sentence={
            "chat_only": 3.406,
            "not_mine": 2.863,
        },
        whole={
            "chat_only": 5.248,
        },
    ),
    "bluffing": FlagWeights(
        bias=-3.986,
        levels={
            "intellectual_honesty": (2.15, 0.637, 1.092, -1.41),
            "llm_serving_depth": (-0.013, 1.455, 0.327, -0.703),
            "measurement": (0.104, -0.899, 1.271, -0.366),
        },
        overall=(2.705, -2.783),
        sentence={
            "hard_claim": 1.7,
        },
        whole={
            "hedge": -4.405,
            "hard_claim": 1.425,
        },
    ),
    "blames_others": FlagWeights(
        bias=-5.388,
        levels={
            "failure_reflection": (1.482, 1.836, 1.506, -0.965),
            "stakeholder_decision": (1.174, 0.575, -0.024, -0.202),
        },
        overall=(0.926, -0.843),
        sentence={
            "blame": 2.742,
        },
        whole={
            "own_cause": -1.752,
            "blame": 2.097,
        },
    ),
    "decision_chain": FlagWeights(
        bias=-8.524,
        levels={
            "tradeoff_reasoning": (1.415, -1.789, 0.407, 1.385),
            "finetuning_judgement": (1.303, -1.078, 0.12, 1.064),
            "llm_serving_depth": (-0.451, -0.873, 0.114, 0.446),
            "constraint_adaptation": (0.879, -1.08, 0.081, 0.73),
            "managing_uncertainty": (0.613, -0.453, 0.38, -0.42),
        },
        overall=(-1.07, 0.789),
        sentence={
            "condition": 1.323,
            "link": 3.313,
        },
        whole={
            "condition": 1.227,
            "link": 1.567,
        },
    ),
    "product_sense": FlagWeights(
        bias=-4.329,
        levels={
            "business_impact": (1.866, -2.161, -0.559, 1.016),
            "tradeoff_reasoning": (0.455, -0.55, 0.705, -0.352),
            "experience_transfer": (0.127, -0.64, -0.302, 0.768),
        },
        overall=(-1.315, 0.694),
        sentence={
            "second_order": 1.003,
            "loser_accepted": -0.735,
            "people_money": 1.814,
        },
        whole={
            "second_order": 1.432,
            "loser_accepted": 2.406,
        },
    ),
    "honest_about_limits": FlagWeights(
        bias=-5.079,
        levels={
            "intellectual_honesty": (3.21, -3.004, -0.413, 1.662),
        },
        overall=(-1.462, -0.149),
        sentence={
            "hedge": 1.656,
            "settle": 2.718,
        },
        whole={
            "hedge": 1.875,
        },
    ),
}
