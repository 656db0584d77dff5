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


VERSION = "a578f8d9"

WEIGHTS: Mapping[str, FlagWeights] = {
    "knows_tools_not_tradeoffs": FlagWeights(
        bias=-5.681,
        levels={
            "tradeoff_reasoning": (0.897, 1.071, 1.08, -1.0),
            "finetuning_judgement": (0.949, -0.454, 1.06, -0.64),
            "llm_serving_depth": (-1.116, 0.031, -0.251, -1.196),
            "problem_framing": (0.5, -0.269, 0.127, 0.468),
            "managing_uncertainty": (-0.387, -0.157, 0.255, -0.325),
            "hands_on_specificity": (0.491, -1.328, -0.06, 0.545),
            "measurement": (0.251, 0.083, 0.212, 0.169),
            "constraint_adaptation": (-0.082, -0.182, 2.102, -1.405),
        },
        overall=(0.842, -1.672),
        words=listed(
            "there's 7.91; vllm 5.96; tensorrt-llm 5.45; because it's 5.13; used 4.77; langgraph 4.58; on top 4.51; "
            "evaluation 4.48; llm 4.47; top 4.46; trl 4.46; qlora 4.26; all 4.23; of them 4.21; for the 4.11; rag "
            "4.08; axolotl 4.07; there are 4.07; langfuse 3.73; continuous 3.6; with a 3.44; speculative 3.41; qwen "
            "3.33; i've 3.21; or 3.15; fine-tuning 3.12; dora 3.11; llama 3.08; of the 3.05; gptq 3.0; an 2.98; has "
            "2.98; with 2.95; art 2.92; state of 2.92; the art 2.92; guardrails 2.9; prefix 2.89; canary 2.88; that's "
            "the 2.76; has a 2.74; bertscore 2.69; you 2.68; community 2.67; bleu 2.66; kv cache 2.64; serving 2.58; "
            "quantisation 2.54; the kv 2.52; state 2.46; kv 2.39; fp8 2.37; them 2.27; unsloth 2.11; and 2.07; "
            "speculative decoding 2.05; then 2.02; caching 1.98; i've used 1.98; open 1.97; need 1.94; technically "
            "1.92; vllm or 1.92; i'd take 1.91; qdrant 1.9; distillation 1.89; executorch 1.88; kernels 1.87; prefix "
            "caching 1.85; colbert 1.74; layer 1.73; decoding 1.72; continuous batching 1.67; which 1.58; or "
            "tensorrt-llm 1.41; alerts 1.39; as 1.34; fusion 1.28; mlc 1.2; nobody 1.2; and you 1.17; use 1.1; drift "
            "1.05; in as 0.93; in a 0.88; classic 0.67; speech 0.44; small and 0.3; answer is 0.07; whisper -0.07; "
            "sit -0.11; from -1.01; it -1.46; at -1.61; not -1.93; only -2.11; two -2.75; in the -2.8; no -3.16; what "
            "-3.66 "
        ),
        sentence={
            "listed": 5.414,
            "any_will_do": 3.461,
            "there_is": 1.338,
            "generic_virtue": 3.073,
        },
        whole={
            "stock_design": -1.059,
            "parts": -0.384,
            "theory": -0.167,
        },
    ),
    "strong_generalist_lacks_llm_intuition": FlagWeights(
        bias=-4.812,
        levels={
            "llm_serving_depth": (0.844, 0.955, 0.629, -0.78),
            "experience_transfer": (0.47, -0.3, 0.79, -0.376),
            "constraint_adaptation": (-0.06, -0.357, 0.452, -0.017),
            "managing_uncertainty": (-0.23, 0.508, 0.573, -1.146),
            "intellectual_honesty": (-0.711, 0.916, -0.568, 0.181),
            "problem_framing": (0.018, 0.084, 0.352, -0.563),
        },
        overall=(0.381, -0.965),
        sentence={
            "generic_ops": 2.954,
            "like_any_service": 1.073,
        },
        whole={
            "llm_mechanics": -2.082,
            "generic_ops": 3.219,
            "hedge": 0.226,
            "hard_claim": 0.866,
            "parts": -0.664,
        },
    ),
    "recites_architecture": FlagWeights(
        bias=-9.246,
        levels={
            "problem_framing": (1.143, 0.674, 0.46, -0.128),
            "tradeoff_reasoning": (-0.091, 0.813, -0.569, -0.618),
            "llm_serving_depth": (0.681, 0.734, 0.478, -0.423),
        },
        overall=(1.228, -0.697),
        words=listed(
            "vector 8.9; and a 7.99; an 7.41; layer 7.2; store 7.04; architecture 6.87; observability 6.63; top 5.91; "
            "loop 5.63; guardrails 5.41; kubernetes 5.4; standard 5.38; gateway 5.3; ingest 5.06; with 5.0; api 4.88; "
            "service 4.86; on top 4.82; a vector 4.62; model 4.56; with a 4.41; evaluation harness 4.26; harness "
            "4.26; behind 4.19; feature store 4.18; production 4.05; feedback 4.02; microservice 4.01; monitoring "
            "3.97; stack 3.93; an evaluation 3.92; the standard 3.92; redis 3.83; feature 3.77; rag 3.63; embedding "
            "3.6; embed 3.51; we would 3.5; pipeline 3.38; hybrid 3.36; the architecture 3.33; chunk 3.27; langgraph "
            "3.13; a feature 3.11; an api 3.1; citations 3.08; safety 3.01; with dashboards 3.0; would go 3.0; vector "
            "store 2.93; for 2.92; this is 2.91; in production 2.88; registry 2.87; tier 2.86; dashboards 2.85; will "
            "2.85; a data 2.84; a critic 2.83; critic 2.83; evaluation 2.83; behind it 2.79; planner 2.77; ingestion "
            "2.74; and grafana 2.66; a large 2.63; large model 2.62; mcp 2.61; policy 2.61; as the 2.48; grafana "
            "2.46; for the 2.42; classifier 2.37; data 2.35; across 2.34; hybrid search 2.33; orchestration 2.24; "
            "engine 2.22; go 2.18; build 2.17; human 2.14; on 2.04; this 1.86; search 1.8; and 1.62; into 1.46; "
            "that's 1.43; that's the 1.29; the top 1.27; cloud 0.21; advantage 0.2; advantage of 0.2; native 0.15; "
            "rank -0.46; it's -2.24; by -2.44; so -2.72; that -3.3; i -3.63; one -3.69 "
        ),
        sentence={
            "parts": 0.987,
            "stock_design": 4.351,
            "listed": 0.48,
        },
        whole={
            "parts": 3.391,
        },
    ),
    "deterministic_mindset": FlagWeights(
        bias=-8.164,
        levels={
            "managing_uncertainty": (1.584, 2.487, 1.912, -2.576),
            "intellectual_honesty": (0.116, 0.699, 0.103, -0.791),
            "experience_transfer": (-0.095, 0.226, 0.732, -0.324),
        },
        overall=(-0.218, -0.507),
        words=listed(
            "temperature 7.24; zero 7.16; tests 6.84; test 5.95; output 5.67; every 5.59; there's 5.31; write 5.25; "
            "seed 4.9; it can't 4.72; can't 4.34; temperature zero 4.34; any 4.25; and 4.16; once 4.1; right 4.09; "
            "each time 3.89; a test 3.86; seed and 3.78; suite 3.77; fixed 3.73; gives 3.72; ever 3.7; it'll 3.66; "
            "you 3.62; with temperature 3.53; can 3.45; it will 3.41; any more 3.33; unit tests 3.33; is 3.32; "
            "temperature to 3.32; promise 3.26; unit 3.2; same 3.18; 0 3.14; to zero 3.07; so nothing 3.03; fix 2.98; "
            "zero and 2.96; for every 2.93; temperature 0 2.93; the seed 2.92; set 2.91; that after 2.88; test for "
            "2.85; for good 2.84; green 2.83; we've 2.78; you can 2.77; be 2.75; will 2.74; with that 2.73; fixed "
            "seed 2.71; always 2.68; the temperature 2.67; nothing 2.61; wording 2.61; so 2.57; input 2.56; happen "
            "2.54; output and 2.53; wrong 2.5; then 2.49; so if 2.45; again 2.43; be more 2.4; give 2.38; by "
            "construction 2.37; construction 2.37; passes 2.29; valid 2.26; it'll be 2.22; the model 2.21; once it "
            "2.2; same input 2.04; for each 1.98; more 1.91; each 1.9; need to 1.9; 0 and 1.87; need 1.83; solved "
            "1.71; comes 1.62; thing 1.58; basically 1.54; that 1.22; don't need 1.08; for 1.02; its 0.73; the judge "
            "0.36; summaries 0.21; publisher -0.01; script -0.07; judge -0.24; people -1.59; since -2.17; first -2.2; "
            "but -2.32; i -2.43 "
        ),
        sentence={
            "temperature_zero": 1.658,
            "cannot_happen": 4.055,
            "tests": 2.713,
        },
        whole={
            "temperature_zero": 1.693,
        },
    ),
    "theory_without_constraint": FlagWeights(
        bias=-9.849,
        levels={
            "tradeoff_reasoning": (0.681, 0.78, 0.551, -0.508),
            "measurement": (0.983, 1.254, 0.726, -0.487),
            "llm_serving_depth": (0.559, 0.366, 0.401, -0.173),
            "experience_transfer": (0.882, 0.379, 0.437, -0.054),
        },
        overall=(0.617, -0.791),
        sentence={
            "theory": 4.032,
        },
        whole={
            "theory": 5.43,
        },
    ),
    "no_business_narrative": FlagWeights(
        bias=-6.702,
        levels={
            "business_impact": (3.334, 1.325, 1.903, -0.475),
            "measurement": (0.89, 0.138, 0.769, -0.539),
        },
        overall=(0.465, -1.009),
        sentence={
            "technical_pride": 2.845,
        },
        whole={
            "people_money": -1.512,
            "technical_pride": 2.386,
        },
    ),
    "throughput_tunnel_vision": FlagWeights(
        bias=-6.448,
        levels={
            "measurement": (0.933, 0.003, 0.357, -0.369),
            "llm_serving_depth": (0.749, 0.805, 1.115, -0.713),
            "constraint_adaptation": (0.453, -0.071, 1.237, -0.785),
            "tradeoff_reasoning": (0.41, -0.462, 0.401, 0.111),
        },
        overall=(0.283, -0.678),
        sentence={
            "throughput": 2.823,
            "only_metric": 4.604,
        },
        whole={
            "tail": -1.034,
            "throughput": 4.034,
        },
    ),
    "more_is_better": FlagWeights(
        bias=-8.652,
        levels={
            "finetuning_judgement": (0.752, 1.48, 1.71, -2.337),
            "data_intuition": (0.656, 1.284, 0.661, -0.595),
            "tradeoff_reasoning": (0.145, 0.435, 0.424, -0.512),
        },
        overall=(1.035, -0.541),
        words=listed(
            "epochs 9.25; 70b 7.52; largest 7.06; better 6.3; bigger 6.28; the largest 5.98; model 5.82; ten 5.8; "
            "everything 5.71; more 5.57; fine-tune 5.48; a 70b 5.39; full 5.34; all 5.17; will 5.08; always 4.94; "
            "million 4.67; take 4.52; averages 4.5; noise 4.26; biggest 3.97; volume 3.93; can 3.85; a larger 3.69; "
            "just 3.69; parameters 3.59; take the 3.58; data 3.56; thousand 3.52; generate 3.51; larger 3.51; rank "
            "3.47; ten epochs 3.44; the noise 3.36; layers 3.26; the biggest 3.23; more data 3.18; can hold 3.06; "
            "with more 2.99; get 2.96; five 2.92; too 2.88; the more 2.87; the better 2.85; noise averages 2.82; can "
            "get 2.78; then 2.71; whatever 2.71; it can 2.69; size 2.67; of three 2.64; averages out 2.61; on top "
            "2.57; largest model 2.52; the 70b 2.51; is complete 2.5; embedding model 2.49; thumbs 2.47; rank 256 "
            "2.45; hold 2.44; complete 2.42; 256 2.41; the index 2.33; then the 2.32; top 2.29; it 2.25; rank is "
            "2.25; on 2.21; pairs 2.2; biggest model 2.13; you 2.12; and 2.1; enough 2.02; the pairs 2.0; because "
            "1.98; train 1.96; buy 1.94; three 1.94; index 1.93; somewhere 1.87; plenty 1.85; too small 1.85; is "
            "1.84; weights 1.74; out 1.6; itself 1.57; the model 1.53; all weights 1.51; simply 1.14; understand "
            "0.48; ever 0.31; small 0.1; that small -0.01; small models -0.05; useful -0.12; we -0.29; two -1.48; one "
            "-2.36; was -2.52 "
        ),
        sentence={
            "bigger": 2.207,
        },
        whole={
            "bigger": 2.891,
        },
    ),
    "api_tourist": FlagWeights(
        bias=-6.672,
        levels={
            "hands_on_specificity": (2.229, 1.75, 1.528, -0.891),
            "implementation_correctness": (-0.061, 0.443, 0.345, -0.634),
            "llm_serving_depth": (0.123, 0.566, 1.125, -0.979),
        },
        overall=(0.929, -1.523),
        sentence={
            "chat_only": 2.818,
            "not_mine": 2.885,
        },
        whole={
            "chat_only": 4.368,
        },
    ),
    "bluffing": FlagWeights(
        bias=-3.661,
        levels={
            "intellectual_honesty": (1.411, 0.714, 0.776, -1.267),
            "llm_serving_depth": (-0.19, 1.467, 0.802, -0.148),
            "measurement": (0.332, -0.948, 0.631, -0.273),
        },
        overall=(2.349, -3.381),
        words=listed(
            "basically 4.23; models 3.89; attention 3.61; any 3.46; mathematically 3.29; faster 3.18; proven 3.05; "
            "since the 3.03; because the 2.97; you 2.93; has 2.71; point 2.65; bigger 2.56; so it 2.54; the model "
            "2.5; gives 2.44; one to 2.39; as for 2.32; fine-tune 2.31; that's 2.29; 70b 2.27; to a 2.26; need 2.24; "
            "bits 2.19; is 2.05; just 2.02; large 2.0; with a 2.0; there's no 1.97; full 1.96; it's 1.96; cosine "
            "1.95; i'm very 1.95; layer 1.95; together 1.87; a 70b 1.85; always 1.85; there's 1.82; nothing 1.78; and "
            "you 1.76; output 1.75; by now 1.74; the network 1.72; cash 1.71; of 1.71; to one 1.71; the attention "
            "1.66; by 1.65; there 1.65; is just 1.64; mature 1.62; can't 1.61; carries over 1.61; above 1.58; context "
            "1.57; as 1.54; by the 1.54; every 1.52; the adapter 1.47; way 1.41; it's mathematically 1.39; no 1.39; "
            "to 1.33; carries 1.32; obviously 1.3; is a 1.29; model 1.24; volume 1.22; inside 1.2; it's the 1.11; as "
            "it's 1.1; simply 1.1; exam 1.02; into 1.02; network 1.0; so 0.99; language 0.96; is simply 0.85; safer "
            "0.78; tokens 0.72; adapter 0.7; the team 0.67; 1 0.35; question 0.27; it you 0.09; 50 0.07; swap 0.06; "
            "40 0.04; att 0.01; len -0.06; take -0.06; for the -1.09; again -1.39; i'd -1.43; long -1.62; would "
            "-1.97; first -2.19; i -2.48 "
        ),
        sentence={
            "hard_claim": 1.751,
        },
        whole={
            "hedge": -2.774,
            "hard_claim": 0.741,
        },
    ),
    "blames_others": FlagWeights(
        bias=-6.827,
        levels={
            "failure_reflection": (0.896, 2.549, 0.949, -1.294),
            "stakeholder_decision": (1.074, 0.894, -0.066, -0.044),
        },
        overall=(1.148, -0.865),
        words=listed(
            "had 7.3; they 6.37; data 6.16; told 5.44; wrong 5.44; their 5.31; us 4.63; legal 4.56; never 4.48; "
            "understood 4.37; way 4.3; my 4.0; team 3.67; was 3.62; experience 3.6; the wrong 3.31; our side 3.3; my "
            "part 2.94; it 2.92; telling 2.92; did 2.82; them 2.81; do 2.79; on our 2.68; told them 2.61; write 2.6; "
            "their data 2.57; operations 2.36; changed 2.34; works 2.34; i told 2.31; team had 2.26; product 2.23; "
            "they never 2.19; hasn't 2.15; around it 2.08; part 2.02; who 1.99; it said 1.9; said that 1.88; project "
            "1.85; said 1.85; technology and 1.79; call 1.74; would've 1.73; been 1.72; clean 1.71; needed a 1.66; "
            "our 1.66; us the 1.66; on time 1.64; technology 1.63; and i'm 1.53; mostly 1.53; time 1.5; mistake 1.46; "
            "never do 1.41; thing 1.41; right 1.38; more data 1.24; our data 1.14; confirm 1.08; data was 0.92; to "
            "both 0.92; slides 0.9; let 0.83; exactly this 0.76; step 0.75; reading 0.74; you know 0.65; exactly "
            "0.49; organisation 0.48; absolutely 0.28; quality and 0.21; happy with 0.19; whatever you 0.19; usually "
            "0.09; i love 0.08; from somewhere 0.01; happy 0.01; and afterwards -0.01; exact match -0.01; we looked "
            "-0.01; exact -0.02; talk to -0.05; and wrong -0.07; match -0.09; looked at -0.12; love -0.13; talk "
            "-0.26; looked -0.27; which -0.79; be -1.08; for -1.61; i've -1.76; before -1.88; is -2.15; if -2.25; "
            "with -2.31; one -3.27 "
        ),
        sentence={
            "blame": 2.033,
        },
        whole={
            "own_cause": -1.733,
            "blame": 2.376,
        },
    ),
    "decision_chain": FlagWeights(
        bias=-8.364,
        levels={
            "tradeoff_reasoning": (1.97, -1.967, 0.185, 1.322),
            "finetuning_judgement": (1.947, -0.894, 0.042, 1.751),
            "llm_serving_depth": (-0.323, -0.84, -0.314, 0.63),
            "constraint_adaptation": (1.037, -1.421, 0.27, 1.017),
            "managing_uncertainty": (1.197, -0.72, 0.173, 0.121),
        },
        overall=(-1.665, 0.522),
        sentence={
            "condition": 1.519,
            "link": 2.803,
        },
        whole={
            "condition": 0.453,
            "link": 1.425,
        },
    ),
    "product_sense": FlagWeights(
        bias=-6.708,
        levels={
            "business_impact": (2.19, -2.608, -0.417, 1.012),
            "tradeoff_reasoning": (0.41, -0.701, 0.752, -0.337),
            "experience_transfer": (0.356, -0.173, -0.335, 0.703),
        },
        overall=(-0.757, -0.153),
        words=listed(
            "will 5.81; they 5.7; off 5.09; stop 5.02; lose 4.96; get 4.67; worse off 4.59; answers 4.41; who 4.38; "
            "week 4.13; ones 4.09; a month 4.03; button 4.0; that's 3.95; wait 3.73; seconds 3.68; longer 3.59; "
            "minutes 3.5; brings 3.4; her 3.37; call 3.36; orders 3.33; week i'd 3.33; month 3.27; worse 3.18; them "
            "3.01; us 3.0; and 2.99; 2 2.92; does 2.9; 9 2.89; before 2.88; twice 2.87; lost 2.84; and they 2.83; "
            "that 2.82; pays 2.76; costs 2.75; now 2.75; them the 2.75; and i'd 2.71; must 2.7; says 2.69; we 2.66; "
            "i'd accept 2.6; bad 2.59; drop 2.56; 000 2.53; than 2.48; euros 2.45; they'll 2.44; people 2.43; support "
            "2.43; screen 2.29; hours 2.24; and does 2.23; sales 2.18; the one 2.15; nobody 2.12; so the 2.12; "
            "percent 2.1; i'd tell 2.07; first week 2.05; back 1.99; phone 1.97; a year 1.96; the ones 1.96; the "
            "screen 1.91; themselves 1.89; accept 1.83; thirty 1.79; thirty and 1.79; sentence 1.76; off and 1.75; "
            "viewers 1.75; he 1.67; first 1.64; year 1.63; percent of 1.6; today 1.6; go 1.57; carry a 1.55; 400 "
            "1.52; fine 1.5; type 1.48; line 1.47; touch is 1.26; their 1.24; ones who 1.21; touch 0.97; and that "
            "0.69; client 0.62; is worth 0.49; with 0.23; the client -0.29; it's -1.56; model -1.91; token -2.11; "
            "what -2.11; were -2.91 "
        ),
        sentence={
            "second_order": 1.246,
            "loser_accepted": -0.214,
            "people_money": 2.295,
        },
        whole={
            "second_order": 1.207,
            "loser_accepted": 1.319,
        },
    ),
    "honest_about_limits": FlagWeights(
        bias=-7.458,
        levels={
            "intellectual_honesty": (3.313, -2.733, -0.47, 2.5),
        },
        overall=(-1.212, -0.151),
        words=listed(
            "i can't 7.52; haven't 7.38; i haven't 7.05; until then 6.97; until 6.59; can't 6.54; and until 6.46; "
            "guess 6.44; expect 6.41; i've 6.25; till then 5.63; i'd expect 5.37; only 5.37; your 5.32; till 4.96; "
            "suspect 4.92; but 4.76; i'd guess 4.74; never 4.73; know 4.46; so i'd 4.46; run 4.42; i've never 4.07; i "
            "3.92; i can 3.91; i'd 3.9; from the 3.88; meanwhile 3.85; i suspect 3.82; our 3.82; how 3.78; tell 3.73; "
            "so 3.71; card 3.69; and till 3.54; whether 3.54; word 3.44; know is 3.37; half 3.29; reason 3.25; then "
            "3.25; afternoon 3.11; cache 3.06; not 3.05; but the 3.01; not sure 3.0; would 3.0; think 2.97; from "
            "2.96; sure 2.95; it to 2.89; and meanwhile 2.86; words 2.84; what i 2.83; i never 2.82; it in 2.76; as "
            "2.71; before 2.39; text 2.38; that i'd 2.34; know how 2.29; both 2.26; judge 2.26; what the 2.22; tried "
            "2.21; in a 2.15; layer 2.14; and my 2.12; i'm 2.12; each other 2.07; long 2.06; done 2.04; cut 1.97; up "
            "and 1.95; sixty 1.85; does 1.79; hurts 1.76; real 1.62; know from 1.57; don't know 1.56; keys 1.51; ones "
            "1.47; files 1.38; fifty 1.36; last 1.33; one 1.26; read 1.25; settle 1.2; is how 1.09; and 1.07; the "
            "last 1.06; step 0.91; some 0.84; i'd find 0.83; is the 0.72; i would -2.03; you -2.2; want -2.29; about "
            "-3.0; all -3.42 "
        ),
        sentence={
            "hedge": 2.251,
            "settle": 2.816,
        },
        whole={
            "hedge": 0.509,
        },
    ),
}
