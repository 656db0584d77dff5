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
    words: Mapping[str, float] = Field(default_factory=dict)
    """Words and pairs of neighbours of the sentence that is worded most like the flag."""
    whole: Mapping[str, float] = Field(default_factory=dict)
    """Cues of all that was said."""


def listed(words: str) -> dict[str, float]:
    """Read ``always 0.4; temperature zero 1.2``."""
    return {word: float(weight) for word, _, weight in (pair.strip().rpartition(" ") for pair in words.split(";"))}


VERSION = "a4a54f2f"

WEIGHTS: Mapping[str, FlagWeights] = {
    "knows_tools_not_tradeoffs": FlagWeights(
        bias=-5.982,
        levels={
            "tradeoff_reasoning": (0.874, 1.118, 1.399, -1.411),
            "finetuning_judgement": (1.02, -0.394, 0.885, -0.372),
            "llm_serving_depth": (-0.692, -0.261, 0.238, -1.306),
            "problem_framing": (0.566, 0.263, -0.034, 0.258),
            "managing_uncertainty": (-0.066, -0.189, 0.293, 0.001),
            "hands_on_specificity": (0.906, -1.196, 0.204, 0.29),
            "measurement": (0.451, 0.041, 0.093, 0.221),
            "constraint_adaptation": (0.074, -0.017, 2.084, -1.411),
        },
        overall=(0.834, -1.811),
        words=listed(
            "vllm 5.5; there's 5.4; langfuse 4.05; of them 3.86; used 3.86; all 3.85; continuous 3.81; or 3.77; qlora "
            "3.75; axolotl 3.63; evaluation 3.63; these 3.59; speculative 3.56; because it's 3.51; for the 3.42; "
            "sglang 3.42; langgraph 3.38; there are 3.35; awq 3.27; ragas 3.14; on top 3.04; quantisation 3.03; top "
            "2.98; llm 2.97; guardrails 2.96; i've 2.93; rag 2.93; tensorrt-llm 2.87; has 2.86; of the 2.79; that's "
            "the 2.64; lora 2.56; trl 2.56; vllm or 2.54; art 2.47; state of 2.47; the art 2.47; them 2.47; with "
            "2.46; kv cache 2.41; lora qlora 2.4; serving 2.39; qwen 2.37; an 2.36; hybrid 2.34; lorax 2.29; kernels "
            "2.26; put 2.2; kv 2.19; you 2.18; bertscore 2.17; bleu 2.16; has a 2.16; with a 2.16; state 2.11; vllm "
            "with 2.1; fine-tuning 2.08; pagedattention 2.05; question 2.05; dora 2.0; good 1.98; the weights 1.96; "
            "need 1.92; layer 1.9; prefix 1.9; qdrant 1.9; levers 1.88; weaviate 1.84; which 1.83; tools 1.8; caching "
            "1.75; and 1.74; vllm has 1.74; prefix caching 1.66; unsloth 1.65; registry 1.64; near 1.6; several 1.54; "
            "i've used 1.5; by now 1.41; small and 1.35; classic 1.31; then 1.29; you have 1.21; in a 1.05; fusion "
            "0.95; i'd take 0.88; answer is 0.78; and you 0.71; drift 0.56; you'd 0.23; from -1.45; it -1.49; at "
            "-1.76; only -1.83; not -2.22; in the -2.35; no -2.39; two -2.39; what -2.98 "
        ),
        sentence={
            "listed": 5.302,
            "any_will_do": 3.443,
            "there_is": 1.365,
            "generic_virtue": 3.266,
        },
        whole={
            "stock_design": -0.972,
            "parts": -0.475,
            "theory": -0.368,
        },
    ),
    "strong_generalist_lacks_llm_intuition": FlagWeights(
        bias=-4.993,
        levels={
            "llm_serving_depth": (0.769, 1.036, 0.61, -0.804),
            "experience_transfer": (0.303, -0.472, 0.921, -0.381),
            "constraint_adaptation": (-0.207, -0.412, 0.362, 0.05),
            "managing_uncertainty": (-0.095, 0.801, 0.367, -0.991),
            "intellectual_honesty": (-0.875, 0.815, -0.605, 0.196),
            "problem_framing": (0.096, 0.125, 0.43, -0.749),
        },
        overall=(0.781, -1.224),
        sentence={
            "generic_ops": 2.872,
            "like_any_service": 1.542,
        },
        whole={
            "llm_mechanics": -2.064,
            "generic_ops": 3.579,
            "hedge": 0.454,
            "hard_claim": 1.103,
            "parts": -0.629,
        },
    ),
    "recites_architecture": FlagWeights(
        bias=-10.533,
        levels={
            "problem_framing": (1.501, 0.694, 0.736, -0.263),
            "tradeoff_reasoning": (-0.264, 1.201, -0.475, -0.893),
            "llm_serving_depth": (0.199, 0.611, 0.325, -0.491),
        },
        overall=(1.222, -0.718),
        words=listed(
            "store 9.36; vector 8.69; gateway 8.67; layer 8.51; architecture 7.33; an 6.61; and a 6.53; service 6.43; "
            "ingest 6.24; kubernetes 5.89; observability 5.8; loop 5.54; log 4.85; guardrails 4.77; microservice "
            "4.77; feature store 4.76; top 4.64; embed 4.44; pipeline 4.34; grafana 4.33; feature 4.31; chunk 4.3; "
            "model 4.21; rerank 4.17; an evaluation 4.14; a vector 3.93; then the 3.72; vector store 3.72; registry "
            "3.71; for the 3.64; redis 3.63; rag 3.5; on top 3.44; evaluation harness 3.41; harness 3.41; inference "
            "3.39; orchestration 3.3; embedding 3.25; api 3.24; langfuse 3.24; bus 3.21; hybrid 3.21; event 3.19; "
            "stage 3.13; prometheus 3.11; queue 3.09; citations 3.04; kafka 3.01; with 3.01; events 2.99; behind "
            "2.97; evaluation 2.87; and grafana 2.77; a data 2.63; this is 2.61; mcp 2.58; human in 2.55; dialogue "
            "2.47; tier 2.45; and 2.41; the loop 2.4; human 2.33; ocr 2.26; traces 2.23; ingestion 2.22; seven 2.12; "
            "data 2.03; each 2.01; hybrid search 1.99; conversation 1.97; llm 1.96; node 1.94; the vector 1.91; "
            "langfuse for 1.9; server-sent 1.9; server-sent events 1.9; an api 1.88; policy 1.85; an llm 1.71; scale "
            "1.61; gpu 1.59; production 1.55; request 1.5; search 1.48; the top 1.27; safety 1.26; monitoring 1.16; "
            "that's the 1.14; on 1.12; in production 0.01; dashboards -0.06; paged -0.26; rank -0.51; it's -2.29; "
            "that -2.4; by -2.56; to -2.72; one -2.86; i -3.46 "
        ),
        sentence={
            "parts": 0.733,
            "stock_design": 4.481,
            "listed": 0.28,
        },
        whole={
            "parts": 3.192,
        },
    ),
    "deterministic_mindset": FlagWeights(
        bias=-8.642,
        levels={
            "managing_uncertainty": (1.625, 2.553, 1.733, -2.542),
            "intellectual_honesty": (-0.017, 0.56, 0.217, -1.171),
            "experience_transfer": (-0.128, -0.008, 0.805, -0.412),
        },
        overall=(-0.142, -0.467),
        words=listed(
            "zero 8.89; temperature 8.05; tests 7.35; test 6.78; output 6.59; write 6.53; every 6.16; seed 5.82; "
            "there's 5.78; it can't 5.59; once 5.5; any 5.4; can't 5.08; temperature zero 4.95; a test 4.68; and "
            "4.48; right 4.43; fixed 4.25; seed and 4.22; each time 4.21; consistent 4.12; is 4.12; you 4.07; suite "
            "4.05; with temperature 4.01; the seed 3.95; to zero 3.94; any more 3.84; gives 3.78; same 3.78; zero and "
            "3.76; temperature to 3.7; unit tests 3.69; must 3.68; set 3.66; ever 3.64; fix 3.61; it'll 3.57; unit "
            "3.57; you can 3.54; until 3.53; with that 3.49; test for 3.47; 0 3.39; it will 3.39; for good 3.38; "
            "nothing 3.33; regression 3.33; so nothing 3.17; needs to 3.14; so 3.14; green 3.13; temperature 0 3.13; "
            "the temperature 3.06; fixed seed 3.05; for every 3.05; always 3.04; output and 2.95; wrong 2.95; the "
            "model 2.92; so if 2.88; valid 2.88; wording 2.88; input 2.87; we've 2.83; like that 2.82; can 2.79; by "
            "construction 2.76; construction 2.76; passes 2.76; rule 2.75; add 2.72; i'd promise 2.7; be 2.68; for "
            "each 2.67; answer 2.65; then 2.48; thing 2.48; 0 and 2.36; same input 2.3; be more 2.21; each 2.2; again "
            "2.11; it'll be 1.92; we 1.88; more 1.77; is deterministic 1.51; we can 1.46; store 0.91; the judge 0.51; "
            "publisher 0.33; summaries 0.18; expensive -0.01; thing i'd -0.04; script -0.09; judge -0.31; first "
            "-2.21; since -2.31; but -2.58; i -3.22 "
        ),
        sentence={
            "temperature_zero": 1.219,
            "cannot_happen": 4.035,
            "tests": 2.641,
        },
        whole={
            "temperature_zero": 1.069,
        },
    ),
    "theory_without_constraint": FlagWeights(
        bias=-8.411,
        levels={
            "tradeoff_reasoning": (0.673, 0.319, 1.111, -0.756),
            "measurement": (0.48, 1.007, 0.936, -0.65),
            "llm_serving_depth": (0.502, -0.115, 0.877, -0.382),
            "experience_transfer": (0.806, 0.12, 0.389, 0.012),
        },
        overall=(0.692, -1.45),
        sentence={
            "theory": 3.053,
        },
        whole={
            "theory": 6.196,
        },
    ),
    "no_business_narrative": FlagWeights(
        bias=-8.086,
        levels={
            "business_impact": (3.578, 2.166, 2.018, -0.935),
            "measurement": (1.519, -0.11, 0.729, 0.268),
        },
        overall=(0.342, -0.718),
        sentence={
            "technical_pride": 2.751,
        },
        whole={
            "people_money": -1.79,
            "technical_pride": 1.612,
        },
    ),
    "throughput_tunnel_vision": FlagWeights(
        bias=-7.24,
        levels={
            "measurement": (1.068, -0.181, 0.396, -0.388),
            "llm_serving_depth": (0.758, 0.674, 1.012, -0.726),
            "constraint_adaptation": (0.35, 0.154, 1.234, -0.978),
            "tradeoff_reasoning": (0.592, -0.521, 0.79, 0.091),
        },
        overall=(0.148, -0.816),
        sentence={
            "throughput": 3.233,
            "only_metric": 4.732,
        },
        whole={
            "tail": -0.797,
            "throughput": 3.945,
        },
    ),
    "more_is_better": FlagWeights(
        bias=-8.354,
        levels={
            "finetuning_judgement": (0.496, 1.409, 1.79, -2.452),
            "data_intuition": (0.656, 1.047, 0.589, -0.506),
            "tradeoff_reasoning": (-0.029, 0.377, 0.425, -0.555),
        },
        overall=(0.811, -0.44),
        words=listed(
            "epochs 9.36; train 7.61; 70b 7.2; largest 7.01; the largest 6.39; more 5.95; will 5.62; million 5.55; "
            "better 5.52; ten 5.14; biggest 4.94; bigger 4.91; fine-tune 4.91; all 4.89; rank 4.8; model 4.7; a 70b "
            "4.63; the biggest 4.5; take 4.43; always 4.31; everything 4.16; data 4.1; full 3.94; averages 3.88; the "
            "more 3.8; a larger 3.79; take the 3.71; noise 3.63; ten epochs 3.62; generate 3.58; more epochs 3.57; "
            "larger 3.56; thousand 3.5; can 3.45; loss 3.29; volume 3.26; can hold 3.14; layers 3.13; five 2.92; get "
            "2.91; the better 2.91; averages out 2.82; it can 2.77; because 2.76; size 2.74; more data 2.73; can get "
            "2.7; then 2.7; largest model 2.65; is complete 2.63; parameters 2.6; with more 2.55; hold 2.52; complete "
            "2.5; the noise 2.49; the 70b 2.48; then the 2.47; itself 2.46; thumbs 2.45; the index 2.43; just 2.25; "
            "rank 256 2.2; you 2.19; on 2.18; 256 2.17; all weights 2.17; quality 2.16; biggest model 2.14; pairs "
            "2.12; index 2.09; and 2.05; that 2.05; rank is 2.04; simply 2.0; weights 2.0; the pairs 1.99; too small "
            "1.87; it 1.85; out 1.72; you take 1.68; whatever 1.51; more parameters 1.23; too 1.23; fine-tuning 1.07; "
            "model is 0.8; ever 0.45; it not 0.17; ha -0.01; that small -0.02; useful -0.04; small models -0.05; "
            "evaluate it -0.07; to -0.24; small -0.38; we -0.4; the end -0.57; two -1.7; i'd -1.71; was -1.95; what "
            "-2.49 "
        ),
        sentence={
            "bigger": 2.184,
        },
        whole={
            "bigger": 3.178,
        },
    ),
    "api_tourist": FlagWeights(
        bias=-6.544,
        levels={
            "hands_on_specificity": (2.329, 1.924, 1.637, -0.94),
            "implementation_correctness": (-0.097, 0.483, 0.349, -0.696),
            "llm_serving_depth": (0.139, 1.082, 1.05, -1.147),
        },
        overall=(0.891, -1.488),
        sentence={
            "chat_only": 2.521,
            "not_mine": 3.167,
        },
        whole={
            "chat_only": 4.166,
        },
    ),
    "bluffing": FlagWeights(
        bias=-4.824,
        levels={
            "intellectual_honesty": (1.536, 0.673, 1.053, -1.247),
            "llm_serving_depth": (-0.296, 1.226, 0.731, -0.135),
            "measurement": (0.238, -0.832, 0.623, -0.31),
        },
        overall=(2.455, -3.423),
        words=listed(
            "faster 5.89; basically 5.51; attention 5.21; models 5.17; mathematically 5.01; loss 4.73; point 4.25; "
            "any 4.12; because the 3.93; need 3.85; the model 3.58; anyway 3.52; proven 3.51; you 3.48; 70b 3.42; "
            "can't 3.42; fine-tune 3.4; it's 3.32; is 3.29; everything 3.27; by the 3.23; the weights 3.14; with a "
            "3.09; trained 3.04; out of 3.02; above 3.01; every 3.01; the attention 2.99; have to 2.94; nothing 2.94; "
            "just 2.92; bits 2.89; there's no 2.7; always 2.63; of 2.59; since the 2.59; the network 2.59; as 2.55; "
            "to one 2.52; 1 2.5; overwritten 2.47; then you 2.47; one to 2.46; carries over 2.39; len 2.39; a 70b "
            "2.35; output 2.35; data 2.32; as for 2.3; carries 2.28; are 2.23; works 2.23; bigger 2.22; how the 2.22; "
            "that's 2.22; by 2.2; is just 2.18; there's nothing 2.16; network 2.15; model 2.13; full 2.09; there's "
            "2.07; and you 2.06; an llm 2.04; volume 2.04; context 2.0; to a 2.0; and an 1.97; can't be 1.97; already "
            "1.95; i len 1.95; len s 1.95; att 1.94; to 1.84; since 1.81; it 1.76; is simply 1.72; into 1.68; "
            "obviously 1.6; large 1.54; no 1.53; doubles 1.47; layers 1.43; there 1.39; tokens 1.2; fewer 1.13; on "
            "1.09; of the 1.08; than 1.08; talk 0.83; vector 0.77; swap 0.54; 50 0.26; what -1.27; many -1.67; if "
            "-2.36; i -2.63; first -2.77; would -3.56; i'd -3.57 "
        ),
        sentence={
            "hard_claim": 1.723,
        },
        whole={
            "hedge": -2.924,
            "hard_claim": 0.645,
        },
    ),
    "blames_others": FlagWeights(
        bias=-6.749,
        levels={
            "failure_reflection": (1.073, 2.702, 1.495, -1.827),
            "stakeholder_decision": (1.005, 1.29, -0.016, -0.305),
        },
        overall=(1.544, -1.677),
        words=listed(
            "had 5.16; they 5.13; wrong 5.08; data 4.78; their 4.63; team 4.14; my 4.03; us 3.94; been 3.52; told "
            "3.42; never 3.12; side 2.9; do 2.89; was 2.84; understood 2.8; wrong was 2.68; they'd 2.66; to do 2.55; "
            "our side 2.5; them 2.5; the wrong 2.43; they had 2.34; who 2.32; wasn't 2.2; works 2.2; their data 2.12; "
            "product 2.11; it to 2.09; wanted it 2.08; on us 2.02; they never 1.99; write 1.97; of my 1.96; wouldn't "
            "1.95; delivered 1.93; operations 1.89; part 1.87; people who 1.81; technology and 1.8; to take 1.8; "
            "failure 1.79; wanted 1.78; my part 1.76; the technology 1.76; told them 1.75; i'm 1.74; call 1.7; "
            "technology 1.66; nothing to 1.65; it 1.64; it ended 1.64; clean 1.62; my side 1.61; organisation 1.58; "
            "hasn't 1.56; where they'd 1.54; they'd been 1.51; nothing 1.49; point 1.48; i told 1.45; reading 1.43; "
            "i'm leaving 1.41; to 1.39; i wouldn't 1.38; leaving 1.38; manager 1.27; wait 1.26; and i'm 1.25; let "
            "1.24; our data 1.21; thing 1.15; time 1.14; know the 1.08; data was 1.0; it in 0.91; you know 0.91; "
            "never do 0.9; and wrong 0.87; confirm 0.86; to both 0.85; her 0.74; absolutely 0.7; didn't 0.69; we "
            "would 0.65; exactly this 0.63; this 0.63; whatever 0.41; more data 0.29; which 0.07; happy with -0.01; "
            "talk to -0.05; in it -0.21; as -0.37; before -1.62; is -1.69; then -1.99; if -2.0; with -2.25; one -2.28 "
        ),
        sentence={
            "blame": 1.969,
        },
        whole={
            "own_cause": -1.751,
            "blame": 1.754,
        },
    ),
    "decision_chain": FlagWeights(
        bias=-9.446,
        levels={
            "tradeoff_reasoning": (1.885, -2.037, 0.375, 1.159),
            "finetuning_judgement": (1.964, -0.498, 0.054, 1.694),
            "llm_serving_depth": (-0.4, -0.977, -0.139, 0.501),
            "constraint_adaptation": (1.149, -1.434, 0.334, 1.527),
            "managing_uncertainty": (1.178, -0.804, 0.15, 0.139),
        },
        overall=(-1.781, 0.623),
        sentence={
            "condition": 1.628,
            "link": 2.809,
        },
        whole={
            "condition": 0.595,
            "link": 1.547,
        },
    ),
    "product_sense": FlagWeights(
        bias=-6.058,
        levels={
            "business_impact": (2.178, -2.762, -0.525, 0.969),
            "tradeoff_reasoning": (0.593, -0.763, 0.402, -0.195),
            "experience_transfer": (0.387, -0.239, -0.297, 0.634),
        },
        overall=(-0.885, -0.167),
        words=listed(
            "will 4.8; lose 4.05; off 4.01; shop 3.78; they 3.56; minutes 3.42; worse off 3.35; ones 3.23; week 3.09; "
            "who 3.07; get 2.94; and 2.84; call 2.82; a month 2.77; wait 2.69; 2 2.68; week i'd 2.66; seconds 2.59; "
            "button 2.58; bad 2.52; than 2.49; worse 2.46; they'll 2.44; answers 2.43; month 2.39; euros 2.37; that "
            "2.34; half 2.31; go 2.3; that's 2.24; us 2.23; must 2.21; back 2.18; type 2.16; people 2.15; and i'd "
            "2.11; 9 2.07; bytes 2.07; i'd accept 2.06; fine 2.05; so the 2.03; them 2.03; 000 2.02; we 2.0; orders "
            "1.96; her 1.95; hours 1.93; nobody 1.87; support 1.84; thirty and 1.81; way 1.81; the bytes 1.79; and "
            "that's 1.78; does 1.77; fine with 1.76; next 1.76; sales 1.72; the way 1.7; pays 1.69; a year 1.67; "
            "screen 1.63; and does 1.62; first week 1.59; i'd tell 1.55; the screen 1.53; themselves 1.52; carry a "
            "1.47; teachers 1.45; thirty 1.44; before 1.43; waiting 1.42; a 1.37; carry 1.37; off and 1.34; accepted "
            "that 1.33; the one 1.3; because 1.28; first 1.22; answer 1.13; isn't 1.11; now 0.96; each 0.95; two "
            "hours 0.93; becomes 0.91; their 0.88; year 0.86; the queue 0.75; talk 0.72; colleagues 0.69; a day 0.67; "
            "morning 0.66; that's the 0.61; client 0.58; less 0.53; told 0.49; after 0.28; like 0.24; the client "
            "0.06; queue -0.18; over -1.22 "
        ),
        sentence={
            "second_order": 1.7,
            "loser_accepted": -0.023,
            "people_money": 2.239,
        },
        whole={
            "second_order": 1.21,
            "loser_accepted": 1.732,
        },
    ),
    "honest_about_limits": FlagWeights(
        bias=-8.054,
        levels={
            "intellectual_honesty": (3.461, -2.775, -0.55, 2.381),
        },
        overall=(-1.744, -0.385),
        words=listed(
            "until then 8.21; i can't 8.1; and until 7.47; expect 7.45; till then 7.41; until 7.39; haven't 7.36; "
            "till 7.14; i haven't 6.98; can't 6.82; guess 6.71; i'd expect 6.7; i've 6.45; only 6.19; suspect 6.19; "
            "so i'd 5.78; i'd guess 5.35; know 5.3; meanwhile 5.26; whether 5.23; then 5.13; but 5.03; never 4.9; "
            "i've never 4.88; how 4.84; your 4.73; our 4.5; run 4.45; word 4.43; i suspect 4.35; from the 4.15; i'd "
            "4.04; i never 4.01; and till 3.96; know is 3.93; settles 3.69; card 3.68; i can 3.6; last 3.6; so 3.57; "
            "i 3.51; reason 3.51; tell 3.44; in a 3.4; what i 3.38; text 3.29; ones 3.21; as 3.19; not 3.18; would "
            "3.12; would show 3.09; measured 3.04; afternoon 3.03; but the 3.02; think 2.92; before 2.88; sure 2.85; "
            "files 2.83; cut 2.77; so i 2.76; not sure 2.69; both 2.57; each other 2.54; from 2.54; fifty 2.52; judge "
            "2.51; long 2.45; that i'd 2.44; layer 2.36; never run 2.29; count 2.28; law 2.12; i'm 2.1; what the "
            "2.08; does 2.07; loss 1.98; step 1.98; hurts 1.92; settle 1.83; shared 1.73; enough 1.69; few 1.66; that "
            "it 1.63; real 1.62; size 1.56; what 1.45; a few 1.44; one 1.44; don't know 1.43; i'd find 1.39; of 1.37; "
            "200 1.35; what i'm 0.76; can 0.56; at -0.22; and how -1.22; is a -1.3; and then -2.88; all -3.22; about "
            "-4.24 "
        ),
        sentence={
            "hedge": 2.231,
            "settle": 3.082,
        },
        whole={
            "hedge": 0.568,
        },
    ),
}
