"""Copies of answers with the same label: padded, shuffled, or nothing but padding.

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
UNSEEN = 8
"""As many of them, the last ones, are left out of training, for the test."""


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
    """Return an answer to the same question that consists of fillers; every level is 0."""
    chance = random.Random(f"empty:{seed}:{answer.id}")
    parts = chance.sample(fillers(), chance.randint(2, 9))
    labels = dict.fromkeys(answer.labels, 0)
    return answer.model_copy(
        update={"id": f"{answer.id}-empty", "answer": " ".join(parts), "labels": labels, "evidence": {}}
    )


def fillers(unseen: bool = False) -> tuple[str, ...]:
    """Return the sentences to learn from, or those that are kept for the test."""
    return FILLERS[-UNSEEN:] if unseen else FILLERS[:-UNSEEN]


def _with(answer: Answer, parts: list[str]) -> Answer:
    # One sentence a line keeps code lines apart from the prose around them.
    return answer.model_copy(update={"answer": "\n".join(parts)})
