//! The special tokens that the class of a tokenizer brings along where no file names them.
//!
//! ```text
//! "tokenizer_class": "Qwen2TokenizerFast"   ->   eos_token, unk_token and pad_token are <|endoftext|>
//! ```
//!
//! The table was read off transformers 5.23.0, by loading a folder that names the class and nothing else with `AutoTokenizer`. A class
//! that is not here brings none, as the plain `PreTrainedTokenizerFast` does; neither do those that need more than `tokenizers` and a
//! `tokenizer.json` to be loaded. `config.json`, where the model's type may choose another class, is deliberately not known here.

/// Whether a class says of itself that it pads with nothing, where others pad with what `tokenizer.json` names.
pub(super) fn pads_with_nothing(class: &str) -> bool {
    matches!(plain(class), "CodeGenTokenizer" | "GPT2Tokenizer")
}

/// The names and texts that a class brings along; `is_byte_level` tells whether `tokenizer.json` speaks of `ByteLevel`.
pub(super) fn defaults(class: &str, is_byte_level: impl FnOnce() -> bool) -> &'static [(&'static str, &'static str)] {
    match plain(class) {
        // tokenization_auto.py: models of Llama 3's kind name the class of Llama 2, and are loaded as the plain class.
        "LlamaTokenizer" if is_byte_level() => &[],
        "BartTokenizer"
        | "BarthezTokenizer"
        | "BlenderbotTokenizer"
        | "CamembertTokenizer"
        | "LEDTokenizer"
        | "LayoutLMv3Tokenizer"
        | "LayoutXLMTokenizer"
        | "MBartTokenizer"
        | "MvpTokenizer"
        | "NllbTokenizer"
        | "RobertaTokenizer"
        | "XLMRobertaTokenizer" => &[
            ("bos_token", "<s>"),
            ("eos_token", "</s>"),
            ("unk_token", "<unk>"),
            ("sep_token", "</s>"),
            ("pad_token", "<pad>"),
            ("cls_token", "<s>"),
            ("mask_token", "<mask>"),
        ],
        "BertTokenizer"
        | "ConvBertTokenizer"
        | "DPRContextEncoderTokenizer"
        | "DPRQuestionEncoderTokenizer"
        | "DPRReaderTokenizer"
        | "DistilBertTokenizer"
        | "LayoutLMv2Tokenizer"
        | "LxmertTokenizer"
        | "MobileBertTokenizer" => &[
            ("unk_token", "[UNK]"),
            ("sep_token", "[SEP]"),
            ("pad_token", "[PAD]"),
            ("cls_token", "[CLS]"),
            ("mask_token", "[MASK]"),
        ],
        "BigBirdTokenizer" => &[
            ("bos_token", "<s>"),
            ("eos_token", "</s>"),
            ("unk_token", "<unk>"),
            ("sep_token", "[SEP]"),
            ("pad_token", "<pad>"),
            ("cls_token", "[CLS]"),
            ("mask_token", "[MASK]"),
        ],
        "ByT5Tokenizer" | "LasrTokenizer" | "T5Tokenizer" | "VideoPrismTokenizer" => {
            &[("eos_token", "</s>"), ("unk_token", "<unk>"), ("pad_token", "<pad>")]
        }
        "CLIPTokenizer" => &[
            ("bos_token", "<|startoftext|>"),
            ("eos_token", "<|endoftext|>"),
            ("unk_token", "<|endoftext|>"),
            ("pad_token", "<|endoftext|>"),
        ],
        "CanineTokenizer" => &[
            ("bos_token", "\u{e000}"),
            ("eos_token", "\u{e001}"),
            ("sep_token", "\u{e001}"),
            ("pad_token", "\u{0}"),
            ("cls_token", "\u{e000}"),
            ("mask_token", "\u{e003}"),
        ],
        "CodeGenTokenizer" | "GPT2Tokenizer" | "WhisperTokenizer" => &[
            ("bos_token", "<|endoftext|>"),
            ("eos_token", "<|endoftext|>"),
            ("unk_token", "<|endoftext|>"),
        ],
        "CodeLlamaTokenizer" => &[
            ("bos_token", "<s>"),
            ("eos_token", "</s>"),
            ("unk_token", "<unk>"),
            ("prefix_token", "▁<PRE>"),
            ("middle_token", "▁<MID>"),
            ("suffix_token", "▁<SUF>"),
            ("eot_token", "▁<EOT>"),
            ("fill_token", "<FILL_ME>"),
        ],
        "CohereTokenizer" => &[
            ("bos_token", "<BOS_TOKEN>"),
            ("eos_token", "<|END_OF_TURN_TOKEN|>"),
            ("unk_token", "<UNK>"),
            ("sep_token", "<SEP>"),
            ("pad_token", "<PAD>"),
            ("cls_token", "<CLS>"),
            ("mask_token", "<MASK_TOKEN>"),
        ],
        "DebertaTokenizer" | "DebertaV2Tokenizer" => &[
            ("bos_token", "[CLS]"),
            ("eos_token", "[SEP]"),
            ("unk_token", "[UNK]"),
            ("sep_token", "[SEP]"),
            ("pad_token", "[PAD]"),
            ("cls_token", "[CLS]"),
            ("mask_token", "[MASK]"),
        ],
        "DiaTokenizer" => &[("unk_token", "<pad>"), ("pad_token", "<pad>")],
        "EsmcTokenizer" => &[
            ("bos_token", "<cls>"),
            ("eos_token", "<eos>"),
            ("unk_token", "<unk>"),
            ("pad_token", "<pad>"),
            ("cls_token", "<cls>"),
            ("mask_token", "<mask>"),
            ("chain_break_token", "|"),
        ],
        "FNetTokenizer" | "RemBertTokenizer" => &[
            ("bos_token", "[CLS]"),
            ("eos_token", "[SEP]"),
            ("unk_token", "<unk>"),
            ("sep_token", "[SEP]"),
            ("pad_token", "<pad>"),
            ("cls_token", "[CLS]"),
            ("mask_token", "[MASK]"),
        ],
        "FunnelTokenizer" | "XLNetTokenizer" => &[
            ("bos_token", "<s>"),
            ("eos_token", "</s>"),
            ("unk_token", "<unk>"),
            ("sep_token", "<sep>"),
            ("pad_token", "<pad>"),
            ("cls_token", "<cls>"),
            ("mask_token", "<mask>"),
        ],
        "GPTNeoXTokenizer" => &[
            ("bos_token", "<|endoftext|>"),
            ("eos_token", "<|endoftext|>"),
            ("unk_token", "<|endoftext|>"),
            ("pad_token", "<|padding|>"),
        ],
        "GemmaTokenizer" | "Siglip2Tokenizer" => &[
            ("bos_token", "<bos>"),
            ("eos_token", "<eos>"),
            ("unk_token", "<unk>"),
            ("pad_token", "<pad>"),
            ("mask_token", "<mask>"),
        ],
        "HerbertTokenizer" => &[
            ("unk_token", "<unk>"),
            ("sep_token", "</s>"),
            ("pad_token", "<pad>"),
            ("cls_token", "<s>"),
            ("mask_token", "<mask>"),
        ],
        "LlamaTokenizer" => &[("bos_token", "<s>"), ("eos_token", "</s>"), ("unk_token", "<unk>")],
        "LukeTokenizer" => &[
            ("bos_token", "<s>"),
            ("eos_token", "</s>"),
            ("unk_token", "<unk>"),
            ("sep_token", "</s>"),
            ("pad_token", "<pad>"),
            ("cls_token", "<s>"),
            ("mask_token", "<mask>"),
            ("entity_1_token", "<ent>"),
            ("entity_2_token", "<ent2>"),
            ("entity_unk_token", "[UNK]"),
            ("entity_pad_token", "[PAD]"),
            ("entity_mask_token", "[MASK]"),
            ("entity_mask2_token", "[MASK2]"),
        ],
        "MBart50Tokenizer" => &[
            ("eos_token", "</s>"),
            ("unk_token", "<unk>"),
            ("sep_token", "</s>"),
            ("pad_token", "<pad>"),
            ("cls_token", "<s>"),
            ("mask_token", "<mask>"),
        ],
        "MLukeTokenizer" => &[
            ("bos_token", "<s>"),
            ("eos_token", "</s>"),
            ("unk_token", "<unk>"),
            ("sep_token", "</s>"),
            ("pad_token", "<pad>"),
            ("cls_token", "<s>"),
            ("mask_token", "<mask>"),
            ("entity_1_token", "▁<ent>"),
            ("entity_2_token", "▁<ent2>"),
            ("entity_unk_token", "[UNK]"),
            ("entity_pad_token", "[PAD]"),
            ("entity_mask_token", "[MASK]"),
            ("entity_mask2_token", "[MASK2]"),
        ],
        "MPNetTokenizer" => &[
            ("bos_token", "<s>"),
            ("eos_token", "</s>"),
            ("unk_token", "[UNK]"),
            ("sep_token", "</s>"),
            ("pad_token", "<pad>"),
            ("cls_token", "<s>"),
            ("mask_token", "<mask>"),
        ],
        "NougatTokenizer" => &[
            ("bos_token", "<s>"),
            ("eos_token", "</s>"),
            ("unk_token", "<unk>"),
            ("pad_token", "<pad>"),
        ],
        "OpenAIGPTTokenizer" => &[("unk_token", "<unk>")],
        "PerceiverTokenizer" => &[
            ("bos_token", "[BOS]"),
            ("eos_token", "[EOS]"),
            ("sep_token", "[SEP]"),
            ("pad_token", "[PAD]"),
            ("cls_token", "[CLS]"),
            ("mask_token", "[MASK]"),
        ],
        "Qwen2Tokenizer" | "Qwen3_5Tokenizer" => &[
            ("eos_token", "<|endoftext|>"),
            ("unk_token", "<|endoftext|>"),
            ("pad_token", "<|endoftext|>"),
        ],
        "ReformerTokenizer" => &[("eos_token", "</s>"), ("unk_token", "<unk>")],
        "SeamlessM4TTokenizer" | "XGLMTokenizer" => &[
            ("bos_token", "<s>"),
            ("eos_token", "</s>"),
            ("unk_token", "<unk>"),
            ("sep_token", "</s>"),
            ("pad_token", "<pad>"),
            ("cls_token", "<s>"),
        ],
        "SplinterTokenizer" => &[
            ("unk_token", "[UNK]"),
            ("sep_token", "[SEP]"),
            ("pad_token", "[PAD]"),
            ("cls_token", "[CLS]"),
            ("mask_token", "[MASK]"),
            ("question_token", "[QUESTION]"),
        ],
        "Tipsv2Tokenizer" => &[("unk_token", "<unk>"), ("pad_token", "<pad>")],
        "UdopTokenizer" => &[
            ("eos_token", "</s>"),
            ("unk_token", "<unk>"),
            ("sep_token", "</s>"),
            ("pad_token", "<pad>"),
        ],
        _ => &[],
    }
}

/// A class has one rule under both of its names.
fn plain(class: &str) -> &str {
    class.strip_suffix("Fast").unwrap_or(class)
}

#[cfg(test)]
mod tests {
    use super::defaults;

    #[test]
    fn the_class_is_known_with_and_without_its_suffix() {
        let names = |class: &str| defaults(class, || false).iter().map(|(name, _)| *name).collect::<Vec<_>>();
        assert_eq!(names("Qwen2TokenizerFast"), ["eos_token", "unk_token", "pad_token"]);
        assert_eq!(names("Qwen2Tokenizer"), ["eos_token", "unk_token", "pad_token"]);
        assert!(names("PreTrainedTokenizerFast").is_empty());
    }

    #[test]
    fn a_llama_tokenizer_of_bytes_brings_nothing() {
        assert_eq!(defaults("LlamaTokenizerFast", || false).len(), 3);
        assert!(defaults("LlamaTokenizerFast", || true).is_empty());
    }
}
