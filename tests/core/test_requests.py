"""What is said in place of an answer is recognised when it is all that is said, and never inside an answer."""

from __future__ import annotations

import pytest

from interviewer.core.requests import MAX_WORDS, Request, recognise


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("repeat", "Please repeat the question."),
        ("repeat", "Could you repeat that please?"),
        ("repeat", "Sorry, can you say again?"),
        ("repeat", "Sorry, I didn\u2019t catch that. Could you ask me the question one more time?"),
        ("repeat", "i did not hear you"),
        ("repeat", "Sorry?"),
        ("repeat", "Excuse me?"),
        ("rephrase", "Could you rephrase?"),
        ("rephrase", "Sorry, I did not understood your question. Please explain."),
        ("rephrase", "the question is not clear for me"),
        ("clarify", "May I assume that the traffic is constant?"),
        ("clarify", "Do you mean p99 or the median?"),
        ("clarify", "What do you mean by drift?"),
        ("think", "I need a minute to think."),
        ("think", "Give me one moment, please."),
        ("think", "Hmm, let me think about it"),
        ("think", "Can I have few minutes?"),
        ("unsure", "I don't know."),
        ("unsure", "Sorry, idk"),
        ("unsure", "Honestly I don't know the answer. No idea."),
        ("unsure", "I never heard about this."),
        ("skip", "Can we skip this one?"),
        ("skip", "Next question please"),
        ("skip", "Let's move on to the next question."),
    ],
)
def test_a_request_is_recognised(kind: Request, text: str) -> None:
    assert recognise(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No.",
        "Yes, we did.",
        "Well, sorry.",
        "Sorry.",
        "I do not know the exact number, but p99 was about 800 ms.",
        "I don't know. I would measure it first.",
        "We had to repeat the question to the model with a lower temperature.",
        "I would skip the reranker.",
        "I need a minute of profiler time before I choose.",
        "Please repeat the question, and I would cache the prefix.",
        "It skips. It moves on to the next batch when a slot is free.",
        "May I assume that it is constant? Then I would size for the peak of eight requests a second.",
        "Wait for the queue to drain.",
        "Let me think about latency: it is bound by memory.",
        "```python\npass\n```",
        "I don't know " * MAX_WORDS,
    ],
)
def test_an_answer_is_no_request(text: str) -> None:
    assert recognise(text) is None
