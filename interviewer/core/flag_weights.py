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


VERSION = "5b787b58"

WEIGHTS: Mapping[str, FlagWeights] = {
    "knows_tools_not_tradeoffs": FlagWeights(
        bias=-4.742,
        levels={
            "tradeoff_reasoning": (0.841, 0.911, 1.069, -1.215),
            "finetuning_judgement": (0.352, -0.269, 0.819, -0.365),
            "llm_serving_depth": (-0.153, 0.216, -0.21, -0.661),
            "problem_framing": (0.55, 0.153, 0.247, 0.066),
            "managing_uncertainty": (0.056, 0.125, -0.049, -0.21),
            "hands_on_specificity": (0.593, -0.684, 0.124, 0.244),
            "measurement": (0.304, 0.317, 0.063, 0.07),
            "constraint_adaptation": (-0.434, -0.405, 1.114, -0.266),
        },
        overall=(1.782, -1.827),
        sentence={
            "listed": 5.512,
            "any_will_do": 3.664,
            "there_is": 1.296,
            "generic_virtue": -0.091,
        },
        whole={
            "stock_design": -0.306,
            "parts": 0.162,
            "theory": -0.03,
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
        bias=-8.159,
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
        bias=-5.574,
        levels={
            "managing_uncertainty": (1.832, 1.918, 1.956, -1.925),
            "intellectual_honesty": (-0.024, 0.627, -0.314, -0.48),
            "experience_transfer": (-0.092, 0.454, -0.037, 0.005),
        },
        overall=(0.638, -1.735),
        sentence={
            "temperature_zero": 2.186,
            "cannot_happen": 4.606,
            "tests": 3.737,
        },
        whole={
            "temperature_zero": 3.527,
        },
    ),
    "theory_without_constraint": FlagWeights(
        bias=-10.291,
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
        bias=-5.985,
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
        bias=-8.078,
        levels={
            "measurement": (0.711, -0.114, 0.57, -0.598),
            "llm_serving_depth": (0.876, 0.912, 0.789, -0.614),
            "constraint_adaptation": (0.274, 0.716, 0.841, -0.867),
            "tradeoff_reasoning": (0.633, 0.284, 0.563, -0.52),
        },
        overall=(0.497, -0.85),
        sentence={
            "throughput": 2.296,
            "only_metric": 4.645,
        },
        whole={
            "tail": -0.943,
            "throughput": 4.831,
        },
    ),
    "more_is_better": FlagWeights(
        bias=-6.178,
        levels={
            "finetuning_judgement": (0.599, 1.406, 1.413, -1.906),
            "data_intuition": (0.848, 0.698, 0.16, 0.335),
            "tradeoff_reasoning": (0.041, 0.751, 0.165, -0.345),
        },
        overall=(1.423, -1.437),
        sentence={
            "bigger": 2.869,
        },
        whole={
            "bigger": 3.968,
        },
    ),
    "api_tourist": FlagWeights(
        bias=-6.339,
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
        bias=-3.595,
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
        bias=-4.304,
        levels={
            "business_impact": (1.775, -1.939, -0.543, 1.133),
            "tradeoff_reasoning": (0.428, -0.596, 0.651, -0.176),
            "experience_transfer": (0.211, -0.641, -0.312, 0.878),
        },
        overall=(-1.196, 0.783),
        sentence={
            "second_order": 1.1,
            "loser_accepted": -0.885,
            "people_money": 1.949,
        },
        whole={
            "second_order": 1.268,
            "loser_accepted": 2.518,
        },
    ),
    "honest_about_limits": FlagWeights(
        bias=-4.944,
        levels={
            "intellectual_honesty": (3.148, -2.979, -0.262, 1.51),
        },
        overall=(-1.549, -0.199),
        sentence={
            "hedge": 1.777,
            "settle": 2.83,
        },
        whole={
            "hedge": 1.981,
        },
    ),
}
