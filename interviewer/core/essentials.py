"""The essentials of a greedy decoder and of a LoRA script, looked for in the syntax tree. Nothing is run.

What is found by name may be there and wrong; what is absent may have been said in words. So no check here is sure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from interviewer.core.code import CodeCheck
from interviewer.core.rubric import CodeTask

_STOP = re.compile(r"(?i)eos|stop|end_?(?:id|tok)|eot|im_end")
_PADDED = re.compile(r"(?i)attention_mask|finished|unfinished|\bdone|padding_side|is_done|alive|active")
_SCHEDULE = ("num_train_epochs", "max_steps", "epochs", "n_epochs", "num_epochs", "EPOCHS")
_RATE = ("learning_rate", "lr")
_EVALUATES = (
    "eval_dataset",
    "eval_strategy",
    "evaluation_strategy",
    "evaluate",
    "val_loader",
    "eval_loader",
    "validate",
)
_MASKS = ("assistant_only_loss", "completion_only_loss", "DataCollatorForCompletionOnlyLM", "train_on_responses_only")


def read_code(tree: ast.Module, task: CodeTask) -> tuple[CodeCheck, ...]:
    """Return what the essentials of ``task`` are and whether they stand in the code."""
    seen = _Seen(tree)
    return tuple(_decoder(seen) if task == "greedy_decoder" else _lora(seen))


class _Seen:
    """What a tree has, collected in one walk."""

    def __init__(self, tree: ast.Module) -> None:
        self.nodes = list(ast.walk(tree))
        self.loops = [n for n in self.nodes if isinstance(n, (ast.For, ast.While))]
        self.looped = [n for loop in self.loops for n in ast.walk(loop)]
        self.names = {name for n in self.nodes for name in _names(n)}
        self.keywords = {k.arg: k.value for n in self.nodes if isinstance(n, ast.Call) for k in n.keywords if k.arg}

    def has(self, *names: str) -> bool:
        """Return whether any of the names occurs: as a variable, an attribute, a parameter or a keyword."""
        return bool(self.names & set(names))


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.alias(name=name):
            yield name
        case ast.keyword(arg=str(name)):
            yield name
        case ast.Constant(value=str(name)) if len(name) < 40:
            yield name
        case _:
            return


def _check(name: str, ok: bool, there: str, absent: str) -> CodeCheck:
    return CodeCheck(check=name, ok=ok, says=there if ok else absent, how="read")


def _minus(node: ast.AST, value: int) -> bool:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=found)):
            return bool(found == value)
        case _:
            return False


def _decoder(seen: _Seen) -> Iterator[CodeCheck]:
    yield _check("loop", bool(seen.loops), "There is a loop over steps.", "There is no loop over steps.")
    quiet = seen.has("no_grad", "inference_mode")
    yield _check("no_grad", quiet, "No gradient is recorded.", "Nothing stops the recording of gradients.")
    passed = any(
        k.arg == "past_key_values" and not (isinstance(k.value, ast.Constant) and k.value.value is None)
        for n in seen.looped
        if isinstance(n, ast.Call)
        for k in n.keywords
    )
    kept = any(isinstance(n, ast.Attribute) and n.attr == "past_key_values" for n in seen.nodes) or any(
        isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Constant) and n.slice.value in (1, "past_key_values")
        for n in seen.nodes
    )
    kept = kept or seen.has("DynamicCache", "StaticCache")
    yield _check(
        "cache",
        passed and kept,
        "The cache is passed in and taken out again.",
        "The cache is passed in, but what comes back is not kept." if passed else "No cache is passed to the model.",
    )
    last = seen.has("argmax", "max", "topk") and any(
        isinstance(n, ast.Subscript)
        and any(_minus(part, 1) for part in (n.slice.elts if isinstance(n.slice, ast.Tuple) else [n.slice]))
        for n in seen.nodes
    )
    yield _check(
        "last_position",
        last,
        "The next token is the argmax at the last position.",
        "There is no argmax at the last position.",
    )
    tested = [n for n in seen.nodes if isinstance(n, (ast.Compare, ast.If, ast.While, ast.BinOp, ast.Call))]
    stops = any(_STOP.search(name) for n in tested for part in ast.walk(_test(n)) for name in _names(part))
    yield _check("end_token", stops, "It looks for the end token.", "Nothing looks for an end token.")
    bounded = any(isinstance(n, ast.For) or _compares(n.test) for n in seen.loops)
    yield _check("limit", bounded, "The number of steps is bounded.", "Nothing bounds the number of steps.")
    rows = any(_PADDED.search(name) for name in seen.names)
    yield _check(
        "batch", rows, "It minds rows that are padded or done.", "It does not mind rows that are padded or done."
    )


def _test(node: ast.AST) -> ast.AST:
    return node.test if isinstance(node, (ast.If, ast.While)) else node


def _compares(test: ast.expr) -> bool:
    order = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    return any(isinstance(n, ast.Compare) and any(isinstance(op, order) for op in n.ops) for n in ast.walk(test))


def _lora(seen: _Seen) -> Iterator[CodeCheck]:
    missing = [k for k in ("r", "lora_alpha", "target_modules") if k not in seen.keywords]
    yield _check(
        "config",
        seen.has("LoraConfig") and not missing,
        "Rank, alpha and target modules are chosen.",
        f"Left to a default, or absent: {', '.join(missing)}." if missing else "There is no LoraConfig.",
    )
    wrapped = seen.has("get_peft_model", "peft_config", "add_adapter")
    yield _check("wrapped", wrapped, "The adapter is put on the model.", "The adapter is never put on the model.")
    masked = any(_minus(n, 100) for n in seen.nodes) or seen.has(*_MASKS)
    yield _check(
        "prompt_masked",
        masked,
        "Labels of the prompt are masked.",
        "Nothing masks the prompt's labels; -100 is absent.",
    )
    yield _padding(seen)
    rate = seen.has(*_RATE)
    yield _check("learning_rate", rate, "A learning rate is chosen.", "The learning rate is left to the default.")
    length = seen.has(*_SCHEDULE) or any(isinstance(n, ast.For) for n in seen.loops)
    yield _check("length", length, "Epochs or steps are chosen.", "The length of training is left to the default.")
    saved = seen.has("save_pretrained", "save_model")
    yield _check("saved", saved, "The adapter is saved.", "The adapter is never saved.")
    resumed = seen.has("resume_from_checkpoint", "load_state_dict")
    yield _check("resumed", resumed, "It can go on from a checkpoint.", "It cannot go on from a checkpoint.")
    looked = seen.has(*_EVALUATES)
    yield _check("evaluated", looked, "It is evaluated on held-out data.", "Nothing is evaluated on held-out data.")


def _padding(seen: _Seen) -> CodeCheck:
    """Look at the padding token: the end token in its place is right only where padding is not masked by its id."""
    set_ = [
        n.value
        for n in seen.nodes
        if isinstance(n, ast.Assign)
        for t in n.targets
        if isinstance(t, ast.Attribute) and t.attr in ("pad_token", "pad_token_id")
    ]
    as_end = any(name.startswith("eos_token") for value in set_ for n in ast.walk(value) for name in _names(n))
    by_id = seen.has("DataCollatorForLanguageModeling") or any(
        isinstance(n, ast.Compare) and any(name.startswith("pad_") for part in ast.walk(n) for name in _names(part))
        for n in seen.nodes
    )
    if as_end and by_id:
        says = "The end token pads, and padding is masked by its id: the model never learns to stop."
        return CodeCheck(check="padding", ok=False, says=says, how="read")
    there = bool(set_) or seen.has("padding", "packing", "DataCollatorForSeq2Seq", "pad_sequence")
    return _check("padding", there, "Padding is thought of.", "Padding is not thought of.")
