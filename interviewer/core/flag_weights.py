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


VERSION = "e9359717"

WEIGHTS: Mapping[str, FlagWeights] = {
    "knows_tools_not_tradeoffs": FlagWeights(
        bias=-5.342,
        levels={
            "tradeoff_reasoning": (0.759, 0.937, 1.18, -1.268),
            "finetuning_judgement": (0.386, -0.213, 0.797, -0.348),
            "llm_serving_depth": (-0.324, 0.011, -0.228, -0.545),
            "problem_framing": (0.54, 0.308, -0.067, 0.193),
            "managing_uncertainty": (0.14, 0.17, -0.054, -0.232),
            "hands_on_specificity": (0.663, -0.686, 0.15, 0.258),
            "measurement": (0.422, 0.388, 0.088, 0.065),
            "constraint_adaptation": (-0.365, -0.333, 0.848, -0.12),
        },
        overall=(1.756, -1.674),
        sentence={
            "listed": 5.727,
            "any_will_do": 3.742,
            "there_is": 1.377,
            "generic_virtue": -0.062,
        },
        whole={
            "stock_design": -0.677,
            "parts": 0.139,
            "theory": 0.081,
        },
    ),
    "strong_generalist_lacks_llm_intuition": FlagWeights(
        bias=-5.646,
        levels={
            "llm_serving_depth": (1.097, 1.692, 0.633, -0.785),
            "experience_transfer": (0.639, -0.167, 0.532, -0.332),
            "constraint_adaptation": (0.186, -0.232, 0.464, 0.195),
            "managing_uncertainty": (-0.135, 1.102, 0.635, -1.105),
            "intellectual_honesty": (-1.052, 0.732, -0.579, 0.144),
            "problem_framing": (-0.346, -0.016, -0.092, -0.171),
        },
        overall=(0.455, -0.58),
        sentence={
            "generic_ops": 2.646,
            "like_any_service": 1.005,
        },
        whole={
            "llm_mechanics": -2.509,
            "generic_ops": 3.934,
            "hedge": 0.16,
            "hard_claim": -0.007,
            "parts": 0.039,
        },
    ),
    "recites_architecture": FlagWeights(
        bias=-8.337,
        levels={
            "problem_framing": (0.584, 0.646, 0.371, -0.481),
            "tradeoff_reasoning": (0.604, -0.08, -0.447, 0.222),
            "llm_serving_depth": (0.026, 0.643, 0.108, -0.487),
        },
        overall=(1.369, -1.044),
        sentence={
            "parts": 4.132,
            "stock_design": 2.899,
            "listed": 1.083,
        },
        whole={
            "parts": 3.87,
        },
    ),
    "deterministic_mindset": FlagWeights(
        bias=-5.45,
        levels={
            "managing_uncertainty": (1.77, 1.984, 1.812, -1.991),
            "intellectual_honesty": (0.105, 0.701, -0.275, -0.479),
            "experience_transfer": (0.041, 0.534, 0.011, -0.033),
        },
        overall=(0.471, -1.277),
        sentence={
            "temperature_zero": 1.75,
            "cannot_happen": 4.494,
            "tests": 3.354,
        },
        whole={
            "temperature_zero": 3.596,
        },
    ),
    "theory_without_constraint": FlagWeights(
        bias=-10.055,
        levels={
            "tradeoff_reasoning": (0.093, 0.635, 0.382, -0.608),
            "measurement": (0.681, 0.987, 0.448, -0.301),
            "llm_serving_depth": (0.528, 0.315, 0.496, -0.242),
            "experience_transfer": (0.762, 0.377, 0.49, -0.208),
        },
        overall=(0.254, -0.609),
        sentence={
            "theory": 5.08,
        },
        whole={
            "theory": 5.705,
        },
    ),
    "no_business_narrative": FlagWeights(
        bias=-6.776,
        levels={
            "business_impact": (3.154, 1.971, 1.816, -1.284),
            "measurement": (0.541, -0.096, 0.298, -0.125),
        },
        overall=(0.554, -1.383),
        sentence={
            "technical_pride": 2.129,
        },
        whole={
            "people_money": -1.721,
            "technical_pride": 3.168,
        },
    ),
    "throughput_tunnel_vision": FlagWeights(
        bias=-8.489,
        levels={
            "measurement": (0.774, -0.067, 0.572, -0.575),
            "llm_serving_depth": (0.805, 0.852, 0.708, -0.636),
            "constraint_adaptation": (0.211, 0.746, 0.545, -0.631),
            "tradeoff_reasoning": (0.552, 0.443, 0.455, -0.654),
        },
        overall=(0.484, -0.747),
        sentence={
            "throughput": 2.55,
            "only_metric": 4.67,
        },
        whole={
            "tail": -0.862,
            "throughput": 5.361,
        },
    ),
    "more_is_better": FlagWeights(
        bias=-6.096,
        levels={
            "finetuning_judgement": (0.6, 1.406, 1.413, -1.904),
            "data_intuition": (0.85, 0.698, 0.16, 0.336),
            "tradeoff_reasoning": (0.044, 0.75, 0.165, -0.344),
        },
        overall=(1.429, -1.44),
        sentence={
            "bigger": 2.868,
        },
        whole={
            "bigger": 3.967,
        },
    ),
    "api_tourist": FlagWeights(
        bias=-5.801,
        levels={
            "hands_on_specificity": (2.013, 2.003, 1.299, -0.64),
            "implementation_correctness": (0.21, 0.646, 0.104, -0.292),
            "llm_serving_depth": (0.242, 0.402, 0.628, -0.447),
        },
        overall=(0.991, -1.411),
        sentence={
            "chat_only": 3.414,
            "not_mine": 2.856,
        },
        whole={
            "chat_only": 5.235,
        },
    ),
    "bluffing": FlagWeights(
        bias=-4.1,
        levels={
            "intellectual_honesty": (2.107, 0.95, 1.057, -1.24),
            "llm_serving_depth": (0.061, 1.158, 0.077, -0.716),
            "measurement": (0.171, -0.755, 1.29, -0.372),
        },
        overall=(2.121, -2.764),
        sentence={
            "hard_claim": 1.669,
        },
        whole={
            "hedge": -4.191,
            "hard_claim": 1.695,
        },
    ),
    "blames_others": FlagWeights(
        bias=-5.294,
        levels={
            "failure_reflection": (1.436, 1.814, 1.492, -0.965),
            "stakeholder_decision": (1.142, 0.557, -0.032, -0.201),
        },
        overall=(0.949, -0.855),
        sentence={
            "blame": 2.761,
        },
        whole={
            "own_cause": -1.757,
            "blame": 2.083,
        },
    ),
    "decision_chain": FlagWeights(
        bias=-7.907,
        levels={
            "tradeoff_reasoning": (1.504, -1.745, 0.316, 1.354),
            "finetuning_judgement": (1.283, -1.462, 0.001, 1.204),
            "llm_serving_depth": (-0.664, -0.894, -0.045, 0.384),
            "constraint_adaptation": (0.83, -1.099, 0.055, 0.737),
            "managing_uncertainty": (0.322, -0.193, 0.4, -0.692),
        },
        overall=(-1.024, 0.658),
        sentence={
            "condition": 0.964,
            "link": 2.843,
        },
        whole={
            "condition": 1.478,
            "link": 1.72,
        },
    ),
    "product_sense": FlagWeights(
        bias=-4.282,
        levels={
            "business_impact": (1.749, -1.906, -0.587, 1.115),
            "tradeoff_reasoning": (0.371, -0.66, 0.739, -0.136),
            "experience_transfer": (0.245, -0.646, -0.318, 0.903),
        },
        overall=(-1.075, 0.915),
        sentence={
            "second_order": 0.649,
            "loser_accepted": -0.623,
            "people_money": 1.837,
        },
        whole={
            "second_order": 1.304,
            "loser_accepted": 2.397,
        },
    ),
    "honest_about_limits": FlagWeights(
        bias=-5.779,
        levels={
            "intellectual_honesty": (3.356, -2.967, -0.223, 1.554),
        },
        overall=(-1.473, -0.308),
        sentence={
            "hedge": 1.856,
            "settle": 3.046,
        },
        whole={
            "hedge": 2.014,
        },
    ),
}
