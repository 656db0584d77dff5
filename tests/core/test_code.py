"""Code in answers: where it is found, which essentials are seen in it, and what a sure failure does to a level."""

from __future__ import annotations

import pytest

from interviewer.core.assessment import Assessment, Unscored, UnscoredReason
from interviewer.core.code import CRITERION, CodeCheck, CodeReport, find_code, held, report, unparsed
from interviewer.core.essentials import read_code
from interviewer.core.render import code_lines
from interviewer.core.rubric import CodeTask

from .builders import exactly, found

DECODER = """\
import torch

def greedy(model, ids, n, eos_token_id):
    past = None
    with torch.no_grad():
        for _ in range(n):
            out = model(ids if past is None else ids[:, -1:], past_key_values=past, use_cache=True)
            past = out.past_key_values
            token = out.logits[:, -1].argmax(-1, keepdim=True)
            ids = torch.cat([ids, token], dim=1)
            if (token == eos_token_id).all():
                break
    return ids
"""
BARE = """\
def greedy(model, ids):
    while True:
        logits = model(ids)
        ids = cat(ids, logits.sum(1))
"""
LORA = """\
tok.pad_token = tok.unk_token
model = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, target_modules=["q_proj"]))
labels = [-100] * len(prompt) + answer
args = TrainingArguments("out", learning_rate=2e-4, num_train_epochs=2)
trainer = Trainer(model, args, train_dataset=train, eval_dataset=held_out)
trainer.train(resume_from_checkpoint=True)
model.save_pretrained("adapter")
"""


def seen(code: str, task: CodeTask) -> dict[str, bool | None]:
    """Which essentials are there, by name."""
    got = find_code(f"```python\n{code}\n```", task)
    assert got is not None and got.tree is not None
    return {c.check: c.ok for c in read_code(got.tree, task)}


def test_fenced_code_is_found_whatever_stands_around_it() -> None:
    got = find_code(f"So I would write this:\n\n```python\n{DECODER}```\nand then measure it.", "greedy_decoder")
    assert got is not None and got.tree is not None
    assert got.text == DECODER.strip("\n")


def test_a_fence_that_is_never_closed_still_holds_code() -> None:
    got = find_code(f"```\n{DECODER}", "greedy_decoder")
    assert got is not None and got.tree is not None


def test_an_indented_fence_with_curly_quotes_and_a_shell_line_is_read_as_meant() -> None:
    lines = ["```python", "!pip install peft", "config = LoraConfig(r=8, bias=“none”)", "```"]
    got = find_code("\n".join(f"   {line}" for line in lines), "lora_script")
    assert got is not None and got.text == 'config = LoraConfig(r=8, bias="none")'


def test_plain_code_between_sentences_is_found_and_the_sentences_are_not() -> None:
    got = find_code(
        f"I would write it like this\n\n{DECODER}\nThat stops at the end token, and I would measure it.",
        "greedy_decoder",
    )
    assert got is not None and got.tree is not None
    assert got.text.startswith("import torch") and got.text.rstrip().endswith("return ids")


@pytest.mark.parametrize(
    "answer",
    [
        "I loop over steps, take the argmax of the logits and stop at the end token.",
        "```bash\npip install torch  # for argmax\n```",
        "```python\nmodel.eval()\n```",
        "for example the argmax\nwhile it runs",
        "",
    ],
)
def test_words_a_shell_line_or_a_fragment_are_no_decoder(answer: str) -> None:
    assert find_code(answer, "greedy_decoder") is None


def test_very_long_code_is_left_alone() -> None:
    assert find_code("```python\n" + "for x in argmax: pass\n" * 700 + "```", "greedy_decoder") is None


def test_fenced_code_that_does_not_parse_says_on_which_line_and_is_a_sure_failure() -> None:
    got = find_code("```python\nfor step in range(9)\n    logits = model(ids)\n```", "greedy_decoder")
    assert got is not None and got.tree is None
    made = unparsed(got, "greedy_decoder")
    assert made.failure is not None and "line 1: expected ':'" in made.failure.says
    assert (made.lines, made.ran) == (2, False)


@pytest.mark.parametrize("text", ["-" * 9000 + "1", "a" + "()" * 9000, "a+" * 9000 + "a"])
def test_hostile_nesting_is_an_error_and_no_crash(text: str) -> None:
    got = find_code(f"```python\nfor x in argmax: pass\n{text}\n```", "greedy_decoder")
    assert got is not None and got.tree is None
    assert "nested too deeply" in got.error


def test_a_whole_decoder_has_all_essentials_but_the_care_for_padded_rows() -> None:
    assert seen(DECODER, "greedy_decoder") == {
        "loop": True,
        "no_grad": True,
        "cache": True,
        "last_position": True,
        "end_token": True,
        "limit": True,
        "batch": False,
    }


def test_a_bare_loop_has_none_of_the_others() -> None:
    assert [name for name, ok in seen(BARE, "greedy_decoder").items() if ok] == ["loop"]


def test_a_cache_that_is_passed_and_never_taken_back_is_no_cache() -> None:
    code = "for _ in range(3):\n    logits = model(ids, past_key_values=past)\n"
    got = find_code(f"```\n{code}```", "greedy_decoder")
    assert got is not None and got.tree is not None
    says = {c.check: c.says for c in read_code(got.tree, "greedy_decoder")}
    assert says["cache"] == "The cache is passed in, but what comes back is not kept."


@pytest.mark.parametrize("taken", ["past = out[1]", 'past = out["past_key_values"]', "past = DynamicCache()"])
def test_the_cache_may_be_taken_out_in_any_of_the_usual_ways(taken: str) -> None:
    code = f"for _ in range(3):\n    out = model(ids, past_key_values=past)\n    {taken}\n"
    assert seen(code, "greedy_decoder")["cache"] is True


def test_a_while_loop_with_a_count_is_bounded() -> None:
    assert seen("while len(ids) < limit:\n    logits = model(ids)\n", "greedy_decoder")["limit"] is True


def test_a_whole_script_has_all_essentials() -> None:
    assert all(seen(LORA, "lora_script").values())


def test_a_script_says_what_it_leaves_out() -> None:
    absent = seen("from peft import LoraConfig\nconfig = LoraConfig(r=8)\n", "lora_script")
    assert not any(absent.values())
    assert not seen("from peft import PeftModel\n", "lora_script")["config"]


@pytest.mark.parametrize(
    "masks",
    ["collator = DataCollatorForLanguageModeling(tok, mlm=False)", "labels[labels == tok.pad_token_id] = -100"],
)
def test_the_end_token_as_padding_that_is_masked_by_its_id_is_noticed(masks: str) -> None:
    code = f"import peft\ntok.pad_token = tok.eos_token\n{masks}\n"
    assert seen(code, "lora_script")["padding"] is False
    assert seen("import peft\ntok.pad_token = tok.eos_token\n", "lora_script")["padding"] is True


def check(name: str, ok: bool | None, sure: bool = False) -> CodeCheck:
    return CodeCheck(check=name, ok=ok, says=f"{name} is {ok}.", how="ran" if sure else "read", sure=sure)


def checked(*checks: CodeCheck) -> CodeReport:
    return CodeReport(task="greedy_decoder", lines=9, checks=checks, ran=True)


def test_what_a_run_tried_is_not_told_as_it_reads() -> None:
    code = find_code(f"```\n{DECODER}```", "greedy_decoder")
    assert code is not None
    ran = CodeCheck(check="cache", ok=False, says="It computes the past again.", how="ran")
    made = report(code, "greedy_decoder", [check("cache", True), check("loop", True)], [ran], "")
    assert [(c.check, c.how) for c in made.checks] == [("cache", "ran"), ("loop", "read")]
    assert (made.ran, made.lines, made.failure) == (True, 12, None)


def test_a_sure_failure_holds_correctness_at_one_and_says_why() -> None:
    read = Assessment(criteria=(found(CRITERION, 3), found("measurement", 3)), judge="j")
    result = held(read, checked(check("loop", False), check("tokens", False, sure=True)))
    assert isinstance(result, Assessment)
    assert [(c.criterion, c.level) for c in result.criteria] == [(CRITERION, 1), ("measurement", 3)]
    assert result.criteria[0].probabilities == exactly(1)
    assert result.notices[0].code == "code_fails"
    assert result.notices[0].message.endswith("as the code fails: tokens is False.")


@pytest.mark.parametrize(
    "found_", [None, checked(), checked(check("loop", False)), checked(check("runs", None, sure=True))]
)
def test_anything_less_than_a_sure_failure_changes_nothing(found_: CodeReport | None) -> None:
    read = Assessment(criteria=(found(CRITERION, 3),), judge="j")
    assert held(read, found_) is read


def test_a_low_level_another_criterion_and_an_unread_answer_stay_as_they_are() -> None:
    failed = checked(check("tokens", False, sure=True))
    low = Assessment(criteria=(found(CRITERION, 1),), judge="j")
    other = Assessment(criteria=(found("measurement", 3),), judge="j")
    unread = Unscored(reason=UnscoredReason.JUDGE_TIMEOUT, detail="late")
    assert [held(r, failed) for r in (low, other, unread)] == [low, other, unread]


def test_a_report_is_told_a_line_for_each_thing_with_how_it_is_known() -> None:
    made = checked(check("tokens", False, sure=True), check("batch", None))
    assert code_lines(made.model_copy(update={"notice": "It was only read."}), 2) == [
        "- Greedy decoder of turn 2, 9 lines, run on a tiny model:",
        "  - tokens (does not, as ran): tokens is False.",
        "  - batch (open, as read): batch is None.",
        "  - It was only read.",
    ]
