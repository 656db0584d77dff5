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


VERSION = "4313cdab"

WEIGHTS: Mapping[str, FlagWeights] = {
    "knows_tools_not_tradeoffs": FlagWeights(
        bias=-4.775,
        levels={
            "tradeoff_reasoning": (0.596, 0.545, 1.043, -1.102),
            "finetuning_judgement": (0.336, -0.23, 0.864, -0.365),
            "llm_serving_depth": (-0.322, 0.18, 0.122, -0.707),
            "problem_framing": (0.718, 0.419, 0.034, 0.206),
            "managing_uncertainty": (-0.547, 0.15, -0.2, -0.263),
            "hands_on_specificity": (0.409, -0.428, 0.398, -0.414),
            "measurement": (0.503, 0.08, -0.102, 0.222),
            "constraint_adaptation": (-0.319, -0.346, 0.567, -0.076),
        },
        overall=(1.757, -1.645),
        sentence={
            "listed": 5.618,
            "any_will_do": 3.411,
            "there_is": 1.594,
            "generic_virtue": -0.123,
        },
        whole={
            "stock_design": -1.524,
            "parts": 0.173,
            "theory": 0.409,
        },
    ),
    "strong_generalist_lacks_llm_intuition": FlagWeights(
        bias=-5.24,
        levels={
            "llm_serving_depth": (1.033, 1.604, 0.489, -0.694),
            "experience_transfer": (0.604, -0.134, 0.497, -0.257),
            "constraint_adaptation": (0.232, -0.231, 0.497, -0.103),
            "managing_uncertainty": (0.11, 0.947, 0.733, -1.013),
            "intellectual_honesty": (-0.838, 0.762, -0.577, 0.232),
            "problem_framing": (-0.104, -0.049, 0.028, -0.039),
        },
        overall=(0.368, -0.255),
        sentence={
            "generic_ops": 2.64,
            "like_any_service": 1.206,
        },
        whole={
            "llm_mechanics": -2.46,
            "generic_ops": 3.49,
            "hedge": -0.142,
            "hard_claim": 0.07,
            "parts": -0.125,
        },
    ),
    "recites_architecture": FlagWeights(
        bias=-7.731,
        levels={
            "problem_framing": (0.592, 0.865, 0.224, -0.397),
            "tradeoff_reasoning": (0.892, -0.107, -0.246, 0.512),
            "llm_serving_depth": (0.076, 0.773, 0.004, -0.448),
        },
        overall=(0.925, -0.72),
        sentence={
            "parts": 3.843,
            "stock_design": 3.656,
            "listed": 0.679,
        },
        whole={
            "parts": 2.949,
        },
    ),
    "deterministic_mindset": FlagWeights(
        bias=-5.407,
        levels={
            "managing_uncertainty": (1.588, 2.113, 1.645, -1.679),
            "intellectual_honesty": (-0.02, 0.191, -0.182, -0.214),
            "experience_transfer": (0.01, 0.245, 0.213, -0.245),
        },
        overall=(0.164, -1.133),
        sentence={
            "temperature_zero": 2.667,
            "cannot_happen": 4.814,
            "tests": 3.565,
        },
        whole={
            "temperature_zero": 3.035,
        },
    ),
    "theory_without_constraint": FlagWeights(
        bias=-9.749,
        levels={
            "tradeoff_reasoning": (0.34, 0.404, 0.293, -0.229),
            "measurement": (0.79, 0.527, 0.376, -0.082),
            "llm_serving_depth": (0.598, 0.284, 0.368, -0.118),
            "experience_transfer": (0.722, 0.372, 0.361, -0.207),
        },
        overall=(0.159, -0.462),
        sentence={
            "theory": 4.955,
        },
        whole={
            "theory": 4.976,
        },
    ),
    "no_business_narrative": FlagWeights(
        bias=-5.819,
        levels={
            "business_impact": (2.898, 2.18, 1.652, -1.437),
            "measurement": (0.385, 0.126, 0.168, -0.246),
        },
        overall=(0.425, -1.489),
        sentence={
            "technical_pride": 2.197,
        },
        whole={
            "people_money": -1.57,
            "technical_pride": 3.228,
        },
    ),
    "throughput_tunnel_vision": FlagWeights(
        bias=-6.855,
        levels={
            "measurement": (0.367, 0.262, 0.489, -0.666),
            "llm_serving_depth": (0.295, 0.997, -0.085, -0.346),
            "constraint_adaptation": (0.194, 0.956, 0.075, -0.444),
            "tradeoff_reasoning": (0.469, 0.59, 0.144, -0.296),
        },
        overall=(0.972, -0.921),
        sentence={
            "throughput": 2.696,
            "only_metric": 5.211,
        },
        whole={
            "tail": -0.142,
            "throughput": 4.39,
        },
    ),
    "more_is_better": FlagWeights(
        bias=-5.904,
        levels={
            "finetuning_judgement": (0.647, 1.48, 1.428, -1.948),
            "data_intuition": (0.862, 0.754, 0.185, 0.271),
            "tradeoff_reasoning": (0.044, 0.934, 0.264, -0.705),
        },
        overall=(1.159, -1.199),
        sentence={
            "bigger": 2.967,
        },
        whole={
            "bigger": 3.586,
        },
    ),
    "api_tourist": FlagWeights(
        bias=-6.063,
        levels={
            "hands_on_specificity": (1.564, 2.159, 1.151, -0.779),
            "implementation_correctness": (0.361, 0.66, 0.136, -0.204),
            "llm_serving_depth": (0.328, 0.308, 0.183, -0.2),
        },
        overall=(0.616, -0.775),
        sentence={
            "chat_only": 3.902,
            "not_mine": 2.481,
        },
        whole={
            "chat_only": 5.371,
        },
    ),
    "bluffing": FlagWeights(
        bias=-4.591,
        levels={
            "intellectual_honesty": (2.114, 1.015, 1.092, -1.054),
            "llm_serving_depth": (-0.027, 1.063, 0.255, -0.882),
            "measurement": (0.262, -0.535, 1.2, -0.512),
        },
        overall=(2.329, -2.366),
        sentence={
            "hard_claim": 1.793,
        },
        whole={
            "hedge": -3.957,
            "hard_claim": 1.73,
        },
    ),
    "blames_others": FlagWeights(
        bias=-5.463,
        levels={
            "failure_reflection": (1.363, 1.688, 1.289, -0.565),
            "stakeholder_decision": (1.183, 0.603, -0.247, -0.218),
        },
        overall=(0.965, -0.516),
        sentence={
            "blame": 2.721,
        },
        whole={
            "own_cause": -1.941,
            "blame": 2.711,
        },
    ),
    "decision_chain": FlagWeights(
        bias=-8.065,
        levels={
            "tradeoff_reasoning": (1.439, -1.745, 0.38, 1.428),
            "finetuning_judgement": (1.142, -1.535, -0.057, 1.228),
            "llm_serving_depth": (-0.449, -0.859, 0.054, 0.404),
            "constraint_adaptation": (0.617, -1.005, 0.019, 0.808),
            "managing_uncertainty": (0.422, -0.237, 0.477, -0.683),
        },
        overall=(-0.946, 0.645),
        sentence={
            "condition": 0.759,
            "link": 2.35,
        },
        whole={
            "condition": 1.588,
            "link": 1.866,
        },
    ),
    "product_sense": FlagWeights(
        bias=-4.359,
        levels={
            "business_impact": (1.446, -1.475, -0.433, 1.224),
            "tradeoff_reasoning": (0.542, -0.836, 0.645, -0.001),
            "experience_transfer": (0.227, -0.611, -0.604, 0.972),
        },
        overall=(-0.813, 0.719),
        sentence={
            "second_order": 0.961,
            "loser_accepted": -0.568,
            "people_money": 1.623,
        },
        whole={
            "second_order": 1.438,
            "loser_accepted": 2.411,
        },
    ),
    "honest_about_limits": FlagWeights(
        bias=-5.793,
        levels={
            "intellectual_honesty": (3.425, -2.993, -0.077, 1.368),
        },
        overall=(-1.794, -0.307),
        sentence={
            "hedge": 1.896,
            "settle": 3.443,
        },
        whole={
            "hedge": 1.575,
        },
    ),
}
