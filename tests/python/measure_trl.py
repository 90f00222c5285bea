#!/usr/bin/env python3
"""Compares what TRL's trainers make of a data set with a tokenizer's own `apply_chat_template`, with that of the package in its place, and with
`sft.tokenize`: the tokens and labels of each row.

    python3 tests/python/measure_trl.py [FOLDER]      in an environment with the wheel, requirements.txt, torch and trl

The folder has TRL's templates; without it, they are those of the installed package.
"""

import copy
import pathlib
import sys

import datasets
import trl
from conftest import make_rows, train_byte_fallback, train_byte_level
from transformers import LlamaConfig, LlamaForCausalLM

from chat_template import ChatTemplate, sft

NAMES = ["qwen3_training", "llama3_training", "gemma_training", "phi3_training", "deepseekv3_training"]
ROWS = datasets.Dataset.from_dict({"messages": [row for row in make_rows(250) if row[0]["role"] != "system"]})
PAIRS = ROWS.map(
    lambda row: {"prompt": row["messages"][:-1], "chosen": row["messages"][-1:], "rejected": [row["messages"][-1] | {"content": "No"}]},
    remove_columns=["messages"],
)
HOW = {"output_dir": "/tmp/trl", "report_to": [], "use_cpu": True, "bf16": False, "max_length": None, "dataset_num_proc": 2}


def make_model():
    sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1}
    return LlamaForCausalLM(LlamaConfig(vocab_size=1000, **sizes))


def prepare_sft(tokenizer, rows):
    args = trl.SFTConfig(assistant_only_loss=True, **HOW)
    return trl.SFTTrainer(make_model(), args=args, train_dataset=rows, processing_class=tokenizer).train_dataset


def prepare_dpo(tokenizer, rows):
    trainer = trl.DPOTrainer(make_model(), make_model(), args=trl.DPOConfig(**HOW), train_dataset=rows, processing_class=tokenizer)
    return trainer.train_dataset


def count_equal(ours, theirs, names):
    pairs = zip(*(zip(*(rows[name] for name in names)) for rows in (ours, theirs)))
    return sum(one == other for one, other in pairs)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(trl.__file__).parent / "chat_templates"
    print("of", len(ROWS), "rows equal: replaced in SFTTrainer · in DPOTrainer · sft.tokenize as SFTTrainer · as DPOTrainer")
    for kind, train in (("byte-level", train_byte_level), ("byte-fallback", train_byte_fallback)):
        for name in NAMES:
            tokenizer = train()
            tokenizer.pad_token = "<unk>"
            tokenizer.chat_template = (folder / f"{name}.jinja").read_text(encoding="utf-8")
            template = ChatTemplate.from_tokenizer(tokenizer)
            replaced = copy.deepcopy(tokenizer)
            replaced.apply_chat_template = ChatTemplate.from_tokenizer(replaced).apply_chat_template
            theirs = [prepare_sft(tokenizer, ROWS), prepare_dpo(tokenizer, PAIRS)]
            found = [prepare_sft(replaced, ROWS), prepare_dpo(replaced, PAIRS)]
            tokenize = sft.tokenize(template, tokenizer, verdict_column=None)
            found += [rows.map(tokenize, batched=True, remove_columns=rows.column_names) for rows in (ROWS, PAIRS)]
            columns = [["input_ids", "labels"], ["prompt_ids", "chosen_ids", "rejected_ids"]] * 2
            print(kind, name, *(count_equal(ours, theirs[at % 2], columns[at]) for at, ours in enumerate(found)))


if __name__ == "__main__":
    main()
