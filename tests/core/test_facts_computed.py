from __future__ import annotations

import pytest

from interviewer.core.facts import Finding, check_answer


def one(text: str) -> Finding:
    (found,) = check_answer(text)
    return found


@pytest.mark.parametrize(
    ("check", "text"),
    [
        ("weights", "An 8B in bf16 is 16 GB."),
        ("weights", "A 7B in fp16 needs 13 GiB of weights."),  # 14 GB are 13.04 GiB
        ("weights", "A 70B in int8 takes 70 gigabytes."),
        ("weights", "An 8B in 4 bits takes 5 GB."),  # scales and unquantised parts come on top
        ("weights", "Rank 16 on all layers is 42 million weights, 84 MB."),
        ("product", "On two cards that is 4 by 4 by 2, so 32 sequences an update."),
        ("product", "Two for K and V, times 32, times 8, times 128, times 2 bytes, that's 128 KiB a layer stack."),
        ("product", "Eight times four is thirty-two."),
        ("cache_per_token", "With 48 layers, 8 KV heads of 128 and two bytes it's 192 KB a token."),
        ("cache_per_token", "Llama-3-8B needs 128 KiB per token."),
        ("cache_per_token", "Llama-3-8B at one byte each needs 64 KiB per token."),
        ("cache_per_token", "Llama 3 70B needs 160 KiB per token with the cache in FP8."),
        ("cache_per_token", "It has 32 layers and 8 KV heads. With a head dim of 128 that is 128 KB per token."),
        ("cache", "At 128 KB per token, 8,000 tokens take 1 GB."),
        ("cache", "At 128 KB a token, forty streams of 6,000 tokens are 31 GB."),
        ("cache", "At 128 KiB a token and 4k of context that's half a gigabyte."),
        ("cache", "At 128 kilobytes a token, 2,000 tokens are a quarter of a gigabyte."),
        ("read_time", "16 GB over 3.3 TB/s is 5 ms."),
        ("read_time", "It reads 8 GB a step at 864 GB/s, 9 ms."),
        ("effective_batch", "Micro batch 4 with accumulation of 8 on 4 GPUs, effective batch 128."),
        ("effective_batch", "Micro batch of 2, 8 accumulation steps, so the effective batch is 16."),
        ("effective_batch", "Micro-batch 4, accumulation 2, world size 8: 64 sequences per update."),
        ("adapter_size", "Rank 16 on a 4096 by 4096 matrix is 131k parameters."),
        ("adapter_size", "With r=8 a 4096 x 1024 projection has 40,960 trainable parameters."),
        ("intensity", "Decoding at batch 32 does about 32 FLOPs per byte."),
    ],
)
def test_a_sum_that_is_right_is_said_to_be_right(check: str, text: str) -> None:
    assert (one(text).kind, one(text).check) == ("checked", check)


@pytest.mark.parametrize(
    ("text", "claimed", "right"),
    [
        ("An 8B model in bf16 is 8 GB of weights.", "8 GB", "8 billion parameters x 2 bytes (bf16) = 16 GB"),
        ("An 8B in fp32 takes 16 GB.", "16 GB", "8 billion parameters x 4 bytes (fp32) = 32 GB"),
        ("An 8B in int8 is 16 GB of weights.", "16 GB", "8 billion parameters x 1 bytes (int8) = 8 GB"),
        ("2 x 32 x 8 x 128 x 2 bytes = 64 KB.", "64 KB", "2 x 32 x 8 x 128 x 2 bytes = 131.1 KB"),
        ("4 times 8 times 4 is 96.", "96", "4 x 8 x 4 = 128"),
        (
            "Llama-3-8B has 32 layers, 8 KV heads of 128, so 512 KB a token.",
            "512 KB",
            "2 x 32 layers x 8 KV heads x 128 x 2 bytes = 131,072 bytes, 128 KiB per token",
        ),
        ("At 128 KB per token, 8,000 tokens are 10 GB.", "10 GB", "128 KB x 8,000 tokens = 1.024 GB"),
        ("16 GB over 2 TB/s is 1 ms.", "1 ms", "16 GB / 2 TB a second = 8.0 ms"),
        (
            "The micro batch is 4, accumulation 8, on 4 GPUs. The effective batch is 32.",
            "32",
            "micro batch 4 x accumulation 8 x 4 device(s) = 128",
        ),
        (
            "Rank 16 on a 4096 by 4096 matrix is 65,536 parameters.",
            "65,536",
            "16 x (4096 + 4096) = 131,072 parameters, 262.1 KB in 16 bits",
        ),
        (
            "Decoding at batch 1 does about 200 FLOPs per byte.",
            "200 FLOPs per byte",
            "2 x 1 operations per weight / 2 bytes = about 1 FLOP per byte",
        ),
    ],
)
def test_a_sum_that_is_wrong_is_shown_with_the_right_one(text: str, claimed: str, right: str) -> None:
    found = one(text)
    assert (found.kind, found.claimed, found.right) == ("contradicted", claimed, right)
    assert text[found.quote.start : found.quote.end] == found.quote.text


@pytest.mark.parametrize(
    "text",
    [
        "An 8B in bf16 needs 24 GB with the cache.",
        "An 8B in bf16 needs 24 GB.",  # more than the weights may be meant
        "A 7B in fp16 needs a 24 GB card.",
        "An 8B in bf16 is 12 GB.",  # neither right nor far enough off
        "If an 8B in bf16 is 8 GB of weights, two fit.",
        "People say that an 8B in bf16 is 8 GB of weights.",
        "A LoRA on an 8B in bf16 is 84 MB.",
        "Training a 7B in bf16 takes 4 GB.",
        "An 8B is 8 GB.",
        "The optimizer of an 8B in bf16 is 16 GB.",
        "In training an 8B in bf16 with gradients takes 16 GB.",
        "8B times 3000 is 48 TFLOP.",
        "A 4 by 8 grid, 30 samples.",
        "4 by 8, 30 samples.",  # a comma is too weak a link
        "2 x 32 x 8 is 64 KB.",  # the unit of the factors is not stated
        "2 x 4 bytes is 9.",
        "0.6^3 * 20 = 9.",  # a part of a longer sum
        "It is 0,95 * 60 = 57,2 seconds.",
        "It is 0.5 * 60 = 40.",  # may be rounded
        "It needs 500 KB a token.",
        "Llama-3-8B and Llama-2-7B differ, 5 MB per token.",
        "Llama-3-8B needs 60 KB per token.",  # half of it: an FP8 cache may be meant
        "Between 128 KB per token and 512 KB per token for 8 tokens.",
        "At 128 KB per token, 8,000 tokens leave 10 GB.",
        "At 128 KB per token, 8,000 tokens are 10 GB less.",
        "At 128 KB per token, 8,000 tokens are 1.3 GB.",
        "At 128 KB per token, 8,000 tokens of 10 copies are 10 GB.",  # ten times: a count
        "At 128 KB per token, 8,000 tokens for 9 users are 90 GB.",
        "At 128 KB per token, 0 tokens are 10 GB.",
        f"At 128 KB per token, 8,000 tokens are 10 GB {'and so on ' * 160}.",
        "16 GB over 2 TB/s is 30 ms.",  # slower than the floor is possible
        "16 GB over 0 TB/s is 30 ms.",
        "16 GB on 8 cards at 2 TB/s is 1 ms.",
        "Micro batch 4, accumulation 8, tensor parallel over 4 GPUs, effective batch 32.",
        "Micro batch 4, accumulation from 4 to 8, effective batch 99.",
        "Micro batch 4, accumulation 8 and accumulation 4, effective batch 99.",
        "Micro batch 4, accumulation 8, effective batch 99.",  # the devices are not stated
        "Effective batch 8 or effective batch 16.",
        "Rank 16 on a 4096 by 4096 matrix in 32 layers is 4 million parameters.",
        "Rank 16 on every 4096 by 4096 matrix is 4 million parameters.",
        "Decoding at batch 8 does 3 FLOPs per byte.",
        "Decoding in int4 at batch 8 does 99 FLOPs per byte.",
        "At batch 8 we do 99 FLOPs per byte.",
    ],
)
def test_what_cannot_be_decided_is_left_alone(text: str) -> None:
    assert check_answer(text) == ()


def test_the_first_line_has_no_line_before_it_and_code_lines_are_lines() -> None:
    text = "micro_batch = 4\naccumulation_steps = 8\nEffective batch: 32."
    assert check_answer(text) == ()  # three lines: only a neighbouring one is read
    assert one("micro_batch=4, accumulation_steps=8\nEffective batch: 32.").kind == "checked"
