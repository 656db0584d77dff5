"""Copies of answers with the same label: padded, shuffled, or nothing but padding and strewn terms.

They teach what the level must not depend on: length, order, self-assurance, and words of the trade in empty sentences.
"""

from __future__ import annotations

import random

from serving.train.answers import Answer

FILLERS = (
    "That is really the heart of how I see it.",
    "I have thought about this kind of thing a lot over the years.",
    "At the end of the day it always comes back to doing the basics well.",
    "There are of course many ways to look at this.",
    "It is an interesting area and it moves very fast.",
    "So yes, that would be my general direction here.",
    "I would want to be thoughtful and pragmatic about it.",
    "Quality matters a great deal to me, and so does speed.",
    "We should look at the whole picture and not only at one part of it.",
    "I am quite confident that this would lead to a strong outcome.",
    "It depends on the details, as these things usually do.",
    "Communication with everybody involved is key in my experience.",
    "I would follow the established best practices in the industry.",
    "Trade-offs are everywhere in this field, and one has to keep them in mind.",
    "Latency, cost and quality all play a role in a decision like this.",
    "I would make sure that we measure the right things along the way.",
    "Data is the foundation, so I would pay close attention to the data.",
    "Modern inference engines offer a lot of powerful features here.",
    "A robust evaluation strategy is very important for this.",
    "Fine-tuning can be a great tool when it is used in the right way.",
    "Things like caching, batching and quantization can all help.",
    "I am passionate about delivering real value to users.",
    "Let me think about that for a second.",
    "That is roughly what I wanted to say on this.",
    "In my previous role we had similar discussions.",
    "It is a team effort and everybody has to be on board.",
    "I would iterate quickly and learn from what I see.",
    "Uncertainty is part of the job and one has to manage it.",
    "Monitoring in production is something that I would not skip.",
    "I hope that this shows how I approach these questions.",
)
"""Sentences that could stand in any answer and show nothing."""
STREWN = (
    "For me the KV cache is a big part of this, and then of course the batch size and the p99 as well.",
    "Latency budgets, the decode phase, tail percentiles: these are the things that I always have in my mind here.",
    "Then the reranker comes in, the embeddings too, and with recall and precision one really has the whole picture.",
    "We worked a lot with LoRA rank, learning rate and warm-up, and it was a very important part of the project.",
    "One should never forget the confidence interval, the baseline and the held-out set when talking about this.",
    "Quantisation is a topic there, INT8 and FP8 are topics, and the calibration set is a topic as well.",
    "The whole area around tensor parallelism and pipeline parallelism has to be understood properly.",
    "I am thinking in terms of goodput, time to first token and the queue, that is simply how I work.",
    "It all connects: the prompt, the context window, the retrieval, the guardrail, the fallback and the human review.",
    "Stakeholder alignment, revenue, churn and cost per request were all present in that project from day one.",
    "A root cause, a postmortem, an action item and an owner: that is what this kind of story is about.",
    "There was a hypothesis, there was an ablation, and there was a metric, so it was done in a scientific way.",
    "The memory bandwidth has its role, arithmetic intensity has its role, and in the end the roofline does too.",
    "What matters with speculative decoding is the draft model, the acceptance and the speed, all of it together.",
    "Preference data, reward model and KL penalty are the three words that I would write on the board first.",
    "My approach goes through chunked prefill, prefix caching and continuous batching, in a very careful way.",
    "Gradient accumulation is there, mixed precision is there, checkpointing is there, so the training is covered.",
    "You have the offline eval on one side and the online A/B test on the other side, and in between is the judge.",
    "Between the budget, the deadline, the risk and the quality bar, everything has to be in a good balance.",
    "Hallucination rate, calibration, abstention, those would be handled with the right threshold.",
    "The constraint changes, the architecture changes, the capacity changes, and so I would adapt to the change.",
    "Data quality, label noise, class balance, deduplication, leakage: I look at every one of them in detail.",
    "When it comes to sampling, temperature and top-p and the seed are what it is all about.",
    "Causal mask, softmax, position encoding, grouped-query attention; I know how they are implemented.",
    "I take ownership, I communicate the trade-off to the stakeholder and I follow up with the decision log.",
    "The canary and the shadow deployment are well known to me, likewise the rollback and the kill switch.",
    "As to the business case, the return on investment and the unit economics speak for themselves.",
    "This has to do with the drift, the monitoring, the alert and the retraining, in exactly that spirit.",
    "It is a matter of bias and variance, of overfitting, and of the validation loss, like always in our field.",
    "Catastrophic forgetting is a risk, the mixture of general data is an answer, and so one does that.",
    "I have a strong feeling for the token budget, the truncation and the sliding window.",
    "Non-determinism has to be managed, with evaluation, with consistency and with robustness.",
    "From the first user interview to the north-star metric and the adoption curve, I keep the product in view.",
    "And if we speak about cost, there are spot instances, autoscaling, caching and smaller models to speak about.",
    "Everything depends on the throughput, the concurrency, the preemption and the scheduler; I have met them all.",
    "Where others see a problem, I see the baseline, the percentile, the experiment and the trade-off.",
    "The transfer from classical systems is natural: load shedding, back pressure, circuit breakers, then tokens.",
    "My honest limits, the unknowns and the assumptions are part of the answer too, and I would state them.",
    "With the numbers, such as p50, p95 and p99, plus the error budget, one is on the safe side.",
    "It is known that the weights are in memory, the activations are in memory, and the cache is in memory as well.",
    "Full fine-tuning, adapters, prompt tuning and distillation would all be on my list, each with pros and cons.",
    "I would bring in the confusion matrix, the inter-annotator agreement and the golden set at this point.",
    "Customers, legal, support and finance all had their view, and I had mine, and we found an alignment.",
    "The effective batch, the micro batch and the world size should be set up in the correct manner.",
    "Those are the classical questions of goodput versus latency, and of precision versus recall.",
    "In such a system you find a gateway, a router, an engine, a cache and a store, and it all scales.",
    "I know about the failure, the lesson and the change of process, and I carry that with me today.",
    "So with an SLO, a percentile, a residual risk and an escalation path, that is how the thing is framed.",
)
"""Terms of the trade in whole sentences that say nothing: alone they are level 0, and they raise no answer."""
UNSEEN = 8
"""As many of each, the last ones, are left out of training, for the test."""


def padded(answer: Answer, seed: int, *, unseen: bool = False) -> Answer:
    """Return ``answer`` with two to five fillers between its sentences."""
    chance = random.Random(f"pad:{seed}:{answer.id}")
    parts = answer.sentences
    for filler in chance.sample(fillers(unseen), chance.randint(2, 5)):
        parts.insert(chance.randint(0, len(parts)), filler)
    return _with(answer, parts)


def shuffled(answer: Answer, seed: int, *, unseen: bool = False) -> Answer:
    """Return ``answer`` with its sentences in another order and at most two fillers among them."""
    chance = random.Random(f"shuffle:{seed}:{answer.id}")
    parts = [*answer.sentences, *chance.sample(fillers(unseen), chance.randint(0, 2))]
    chance.shuffle(parts)
    return _with(answer, parts)


def empty(answer: Answer, seed: int) -> Answer:
    """Return an answer to the same question that consists of fillers, of strewn terms or of both; every level is 0."""
    chance = random.Random(f"empty:{seed}:{answer.id}")
    pool = chance.choice((FILLERS[:-UNSEEN], STREWN[:-UNSEEN], fillers()))
    parts = chance.sample(pool, chance.randint(2, 9))
    labels = dict.fromkeys(answer.labels, 0)
    return answer.model_copy(
        update={"id": f"{answer.id}-empty", "answer": " ".join(parts), "labels": labels, "evidence": {}}
    )


def fillers(unseen: bool = False) -> tuple[str, ...]:
    """Return the sentences that show nothing, strewn terms among them: those to learn from, or those of the test."""
    return FILLERS[-UNSEEN:] + STREWN[-UNSEEN:] if unseen else FILLERS[:-UNSEEN] + STREWN[:-UNSEEN]


def _with(answer: Answer, parts: list[str]) -> Answer:
    # One sentence a line keeps code lines apart from the prose around them.
    return answer.model_copy(update={"answer": "\n".join(parts)})
