"""Statements that cannot both be so, by hand: what conflicts, and above all what does not."""

from __future__ import annotations

import pytest

from interviewer.core.contradiction import conflicts, contradictions
from tests.core.builders import Log

CONFLICTS = [
    (
        "Reduced p99 latency of the bidding engine from 40 ms to 18 ms.",
        "We cut the p99 of the bidding engine to 30 ms.",
    ),
    ("Cut p99 latency of the bidder to 18 ms.", "I brought the bidder's p99 latency down to 80 ms."),
    ("Reduced p99 latency of the ranker from 400 ms to 100 ms.", "The ranker's p99 went from 200 ms to 100 ms."),
    ("Reduced p95 latency of dispatch from 2 s to 1 s.", "On dispatch the p95 went from 2 s to 1.5 s."),
    ("Reduced latency of the planner from 100 ms to 20 ms.", "The planner latency fell from 100 ms to 60 ms."),
    ("Led a team of 12 engineers on fraud detection.", "On fraud detection we were a team of 4."),
    ("Led a team of twelve on the crawler.", "The crawler was a five-person team."),
    ("Six years of CUDA.", "I have two years of CUDA."),
    ("8 years of experience with robotics", "I have 3 years of experience with robotics."),
    ("Trained the ranking model on 64 GPUs.", "The ranking model was trained on 8 GPUs."),
    ("Chatbot with 2 million users.", "The chatbot has 40 thousand users."),
    ("Bidder at 100k qps.", "The bidder ran at 5k qps."),
    ("Search serving 50 million requests per day.", "Search had 2 million requests a day."),
    ("Reduced serving cost of the summariser by 60%.", "For the summariser we reduced the cost by 20%."),
    ("Improved throughput of the tokenizer by 40 percent.", "The tokenizer: I improved throughput by 10%."),
    ("Led the migration to Kubernetes.", "On the Kubernetes migration I was one of five people."),
    ("Led the fraud project.", "I did not lead the fraud project, my manager did."),
    ("Spearheaded the SLAM rewrite.", "I only helped on the SLAM rewrite."),
    ("Headed recommendations at ShopCo.", "At ShopCo my manager headed recommendations."),
    ("I led the voice bot.", "The voice bot was a group thing, I was just one of the engineers."),
]
FINE = [
    ("Reduced p99 latency of the bidder from 40 ms to 18 ms.", "The bidder's p99 went from 40 ms to 18 ms."),
    ("Reduced p99 latency of the bidder from 40 ms to 18 ms.", "The bidder's p99 came down to about 20 ms."),
    ("Reduced p99 latency of the bidder from 40 ms to 18 ms.", "We cut the p50 of the bidder to 6 ms."),
    ("Reduced p99 latency of the bidder to 18 ms.", "I cut the p99 latency of the crawler to 90 ms."),
    ("Reduced p99 latency of the bidder to 18 ms.", "Later we cut the bidder's p99 to 9 ms."),
    ("Reduced p99 latency of the bidder to 18 ms.", "I would cut the bidder's p99 to 9 ms."),
    ("Reduced p99 latency of the bidder to 18 ms.", "The target for the bidder was to get p99 down to 9 ms."),
    ("Reduced p99 latency of the bidder to 0.5 s.", "The bidder's p99 went down to 500 ms."),
    ("Cut bidder p99 latency to 18 ms.", "The bidder started at 40 ms."),
    ("Led a team of 12 engineers on fraud detection.", "At first we were a team of 4 on fraud detection."),
    ("Led a team of 12 engineers on fraud detection.", "Another team of 4 did the fraud dashboards."),
    ("Led a team of 12 engineers on fraud.", "My team on payments was a team of 4."),
    ("Led a team of 5 on fraud.", "Fraud was a team of 6."),
    ("Six years of CUDA.", "I have two years of Rust."),
    ("Six years of CUDA.", "I have 6 years of CUDA."),
    ("Trained the ranking model on 64 GPUs.", "We served the crawler on 8 GPUs."),
    ("Trained the ranking model on 64 GPUs.", "Ranking could run on 8 GPUs."),
    ("Chatbot with 2 million users.", "The chatbot grew to 3 million users."),
    ("Chatbot with 2 million users.", "The chatbot had 40 thousand daily users."),
    ("Chatbot with 2M users.", "The chatbot has 2 million users."),
    ("Bidder at 100k qps.", "The bidder ran at 5k qps per node."),
    ("Bidder at 100k qps.", "Off-peak the bidder ran at 5k qps."),
    ("Reduced cost of the summariser by 60%.", "The summariser's latency was reduced by 20%."),
    ("Reduced cost of the summariser by 60%.", "We reduced the cost of the reranker by 20%."),
    ("Led the migration to Kubernetes.", "I led the Kubernetes migration with two others."),
    ("Led the migration to Kubernetes.", "I was one of the founders of a chess club."),
    ("Led the migration to Kubernetes.", "Kubernetes is one of the tools we used."),
    ("Led the fraud project.", "I did not lead the payments project."),
    ("Led the fraud project.", "Did I lead the fraud project?"),
    ("Led the fraud project.", "I think I was one of the first on the fraud project."),
    ("Built the fraud project.", "I was one of five people on the fraud project."),
    ("", "I was one of five people on the fraud project."),
    ("Jane Doe, Berlin", "I do not know."),
]


@pytest.mark.parametrize(("first", "second"), CONFLICTS)
def test_it_conflicts(first: str, second: str) -> None:
    assert len(conflicts(first, second)) >= 1


@pytest.mark.parametrize(("first", "second"), FINE)
def test_it_does_not_conflict(first: str, second: str) -> None:
    assert conflicts(first, second) == []


@pytest.mark.parametrize("text", [pair[i] for pair in [*CONFLICTS, *FINE] for i in (0, 1)])
def test_nothing_conflicts_with_itself(text: str) -> None:
    assert conflicts(text, text) == []


def test_a_session_names_both_quotes_once_and_where_they_stand() -> None:
    log = Log(resume="Jane Doe\nLed the migration to Kubernetes.")
    log.choose("q1").ask("?").answer("Well. On the Kubernetes migration I was one of five people. It went fine.")
    (found,) = contradictions(log.state)
    assert found.about == "role"
    assert (found.first.source, found.first.quote.text) == ("resume", "Led the migration to Kubernetes.")
    assert (found.first.quote.start, found.second.quote.turn) == (9, 1)
    assert found.second.quote.text == "On the Kubernetes migration I was one of five people."
