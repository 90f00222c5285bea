//! The methods of `str`: one row for each, sorted by name.
//!
//! The methods are those of CPython 3.13 without `encode`, which is not supported. Their functions are in the files of their topics
//! and also serve the methods of Markup.

use super::str_class::check_all;
use super::{str_case, str_find, str_format, str_pad, str_replace, str_split, str_strip};
use crate::builtins::table::{SELF, Table, clinic, no_arguments, one_argument, optional, positional, required, unnamed};
use crate::text::strip;
use crate::unicode;
use crate::value::{Parameter, Shortcut};

const AFFIX: &[Parameter] = &[SELF, required("sub"), optional("start"), optional("end")];
const CHARS: &[Parameter] = &[SELF, optional("chars")];
const PAD: &[Parameter] = &[SELF, required("width"), optional("fillchar")];
const SPLIT: &[Parameter] = &[SELF, optional("sep"), optional("maxsplit")];

#[rustfmt::skip]
pub(super) static METHODS: Table = Table::new(&[
    no_arguments("capitalize", "str.capitalize", str_case::capitalize),
    no_arguments("casefold", "str.casefold", str_case::casefold),
    positional("center", "str.center", PAD, str_pad::center),
    positional("count", "str.count", AFFIX, str_find::count),
    positional("endswith", "str.endswith", AFFIX, str_find::ends_with).with_shortcut(Shortcut::Predicate(|text, suffix| text.ends_with(suffix))),
    clinic("expandtabs", "str.expandtabs", &[SELF, optional("tabsize")], str_pad::expand_tabs),
    positional("find", "str.find", AFFIX, str_find::find),
    str_format::format_row("str.format"),
    str_format::format_map_row("str.format_map"),
    positional("index", "str.index", AFFIX, str_find::index),
    no_arguments("isalnum", "str.isalnum", |runtime, arguments| check_all(runtime, arguments, unicode::is_alnum_str)),
    no_arguments("isalpha", "str.isalpha", |runtime, arguments| check_all(runtime, arguments, unicode::is_alpha_str)),
    no_arguments("isascii", "str.isascii", |runtime, arguments| check_all(runtime, arguments, unicode::is_ascii_str)),
    no_arguments("isdecimal", "str.isdecimal", |runtime, arguments| check_all(runtime, arguments, unicode::is_decimal_str)),
    no_arguments("isdigit", "str.isdigit", |runtime, arguments| check_all(runtime, arguments, unicode::is_digit_str)),
    no_arguments("isidentifier", "str.isidentifier", |runtime, arguments| check_all(runtime, arguments, unicode::is_identifier)),
    no_arguments("islower", "str.islower", |runtime, arguments| check_all(runtime, arguments, unicode::is_lower_str)),
    no_arguments("isnumeric", "str.isnumeric", |runtime, arguments| check_all(runtime, arguments, unicode::is_numeric_str)),
    no_arguments("isprintable", "str.isprintable", |runtime, arguments| check_all(runtime, arguments, unicode::is_printable_str)),
    no_arguments("isspace", "str.isspace", |runtime, arguments| check_all(runtime, arguments, unicode::is_space_str)),
    no_arguments("istitle", "str.istitle", |runtime, arguments| check_all(runtime, arguments, unicode::is_title_str)),
    no_arguments("isupper", "str.isupper", |runtime, arguments| check_all(runtime, arguments, unicode::is_upper_str)),
    one_argument("join", "str.join", str_split::join),
    positional("ljust", "str.ljust", PAD, str_pad::left_justify),
    no_arguments("lower", "str.lower", str_case::lower),
    positional("lstrip", "str.lstrip", CHARS, str_strip::strip_start).with_shortcut(Shortcut::Part(strip::strip_start)),
    positional("maketrans", "str.maketrans", &[SELF, required("x"), optional("y"), optional("z")], str_replace::make_table),
    one_argument("partition", "str.partition", str_split::partition),
    one_argument("removeprefix", "str.removeprefix", str_strip::remove_prefix),
    one_argument("removesuffix", "str.removesuffix", str_strip::remove_suffix),
    clinic("replace", "str.replace", &[SELF, unnamed("old"), unnamed("new"), optional("count")], str_replace::replace),
    positional("rfind", "str.rfind", AFFIX, str_find::rfind),
    positional("rindex", "str.rindex", AFFIX, str_find::rindex),
    positional("rjust", "str.rjust", PAD, str_pad::right_justify),
    one_argument("rpartition", "str.rpartition", str_split::partition_at_last),
    clinic("rsplit", "str.rsplit", SPLIT, str_split::split_from_end),
    positional("rstrip", "str.rstrip", CHARS, str_strip::strip_end).with_shortcut(Shortcut::Part(strip::strip_end)),
    clinic("split", "str.split", SPLIT, str_split::split).with_shortcut(Shortcut::Item(str_split::get_split_item)),
    clinic("splitlines", "str.splitlines", &[SELF, optional("keepends")], str_split::split_lines),
    positional("startswith", "str.startswith", AFFIX, str_find::starts_with).with_shortcut(Shortcut::Predicate(|text, prefix| text.starts_with(prefix))),
    positional("strip", "str.strip", CHARS, str_strip::strip).with_shortcut(Shortcut::Part(strip::strip)),
    no_arguments("swapcase", "str.swapcase", str_case::swapcase),
    no_arguments("title", "str.title", str_case::title),
    one_argument("translate", "str.translate", str_replace::translate),
    no_arguments("upper", "str.upper", str_case::upper),
    one_argument("zfill", "str.zfill", str_pad::zero_fill),
]);
