"""Decoders and LoRA scripts as candidates write them, right ones and wrong ones."""

from __future__ import annotations

CACHED = """
def greedy(model, prompt_ids: list[int], max_length: int, eos_id=None):
    tokens, past = list(prompt_ids), None
    cur = torch.tensor([tokens])
    with torch.no_grad():
        while len(tokens) < max_length:
            logits, past = model(cur, past_key_values=past)[:2]
            t = int(torch.argmax(logits[0, -1]))
            tokens.append(t)
            if t == eos_id:
                break
            cur = torch.tensor([[t]])
    return tokens
"""
UNCACHED = """
def decode(model, tokenizer, prompt, max_new_tokens=20):
    ids = tokenizer(prompt, return_tensors="pt").input_ids.to("cuda")
    for _ in range(max_new_tokens):
        nxt = model(ids).logits[:, -1, :].argmax(dim=-1, keepdim=True)
        ids = torch.cat([ids, nxt], dim=-1)
    return tokenizer.decode(ids[0], skip_special_tokens=True)
"""
BATCHED = """
import torch

@torch.inference_mode()
def step(model, **given):
    out = model(**given, use_cache=True)
    return out.logits[:, -1, :].argmax(-1), out.past_key_values

def greedy_decode(model, input_ids, attention_mask, max_new_tokens, eos_token_id, pad_token_id):
    finished = torch.zeros(input_ids.shape[0], dtype=torch.bool)
    made = []
    nxt, past = step(model, input_ids=input_ids, attention_mask=attention_mask)
    while len(made) < max_new_tokens:
        nxt = torch.where(finished, torch.full_like(nxt, pad_token_id), nxt)
        made.append(nxt)
        finished |= nxt == eos_token_id
        if finished.all():
            break
        attention_mask = torch.cat([attention_mask, attention_mask.new_ones(len(nxt), 1)], dim=1)
        nxt, past = step(model, input_ids=nxt[:, None], attention_mask=attention_mask, past_key_values=past)
    return torch.stack(made, dim=1)
"""
FEEDS_ALL_AGAIN = """
def decode(model, input_ids, max_new_tokens):
    past = None
    for _ in range(max_new_tokens):
        out = model(input_ids, past_key_values=past, use_cache=True)
        past = out.past_key_values
        input_ids = torch.cat([input_ids, out.logits[:, -1].argmax(-1, keepdim=True)], dim=1)
    return input_ids
"""
FIRST_POSITION = """
def greedy(model, ids, n):
    for _ in range(n):
        ids = torch.cat([ids, model(ids).logits[:, 0].argmax(-1, keepdim=True)], dim=1)
    return ids
"""
WRONG_SHAPE = """
def greedy(model, ids, n):
    for _ in range(n):
        ids = torch.cat([ids, model(ids).logits[:, -1].argmax(-1)], dim=1)
    return ids
"""
TRAINER = """
import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForSeq2Seq, Trainer, TrainingArguments
from peft import LoraConfig, TaskType, get_peft_model

tok = AutoTokenizer.from_pretrained("some/model")
tok.pad_token = tok.eos_token
model = AutoModelForCausalLM.from_pretrained("some/model", torch_dtype=torch.bfloat16, device_map="auto")
model.gradient_checkpointing_enable()
model.enable_input_require_grads()
config = LoraConfig(r=16, lora_alpha=32, target_modules=["q_proj", "v_proj"], task_type=TaskType.CAUSAL_LM)
model = get_peft_model(model, config)

def encode(row):
    p = tok(row["prompt"], add_special_tokens=False)["input_ids"]
    a = tok(row["response"], add_special_tokens=False)["input_ids"] + [tok.eos_token_id]
    return {"input_ids": p + a, "attention_mask": [1] * len(p + a), "labels": [-100] * len(p) + a}

data = load_dataset("json", data_files="train.jsonl", split="train").train_test_split(test_size=0.05)
train, held = (data[k].map(encode, remove_columns=data[k].column_names) for k in ("train", "test"))
args = TrainingArguments("out", learning_rate=2e-4, num_train_epochs=2, per_device_train_batch_size=2)
collator = DataCollatorForSeq2Seq(tok, padding=True)
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=held, data_collator=collator)
trainer.train()
trainer.evaluate()
model.save_pretrained("adapter")
"""
WHOLE_TEXT = """
from transformers import *
from peft import LoraConfig, get_peft_model
from datasets import load_dataset

def main():
    tokenizer = AutoTokenizer.from_pretrained("x")
    tokenizer.pad_token = "<pad>"
    model = get_peft_model(AutoModelForCausalLM.from_pretrained("x"), LoraConfig(r=8, lora_alpha=16))
    data = load_dataset("my/data")["train"].map(lambda rows: tokenizer(rows["text"]), batched=True)
    collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
    Trainer(model=model, args=TrainingArguments("out"), train_dataset=data, data_collator=collator).train()

if __name__ == "__main__":
    main()
"""
LOOP = """
import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer
from peft import LoraConfig, get_peft_model

tok = AutoTokenizer.from_pretrained("b")
tok.pad_token = "<pad>"
model = get_peft_model(AutoModelForCausalLM.from_pretrained("b").cuda(), LoraConfig(r=8, target_modules="all-linear"))

def collate(batch):
    enc = tok([p + " " + a for p, a in batch], return_tensors="pt", padding=True)
    labels = enc["input_ids"].clone()
    for i, (p, a) in enumerate(batch):
        labels[i, : len(tok(p)["input_ids"])] = -100
    return {**enc, "labels": labels}

opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
for batch in DataLoader([("what is it", "a thing"), ("who", "he")], batch_size=2, collate_fn=collate):
    model(**{k: v.to("cuda") for k, v in batch.items()}).loss.backward()
    opt.step()
model.save_pretrained("out")
"""
SFT = """
from trl import SFTConfig, SFTTrainer
from peft import LoraConfig
from datasets import load_dataset

data = load_dataset("json", data_files="d.jsonl", split="train").remove_columns("text")
args = SFTConfig(output_dir="o", learning_rate=1e-4)
trainer = SFTTrainer(model="some/model", args=args, train_dataset=data, peft_config=LoraConfig(r=8))
trainer.train()
trainer.save_model("o")
"""
