"""Writes src/unicode/tables.rs from the `str` and `unicodedata` of the Python that runs it, and jinja2's pattern of names.

    /path/to/python3.13 tests/reference/unicode_tables.py

The reference is CPython 3.13, which has Unicode 15.1. Each table is computed by calling methods that
templates can call (`chr(c).isalpha()`, `chr(c).upper()`, ...) instead of reading Unicode's files, so
the tables are exactly what CPython does. With the digests at the end of the file, a Rust test checks
each property for all code points without Python.
"""

import pathlib
import sys
import unicodedata

import jinja2._identifier

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = ROOT / "src" / "unicode" / "tables.rs"

# A Rust `char` is never a surrogate.
SCALARS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]

# The digests are FNV-1a, taken a whole number at a time instead of a byte at a time.
DIGEST_START = 0xCBF29CE484222325
DIGEST_PRIME = 0x100000001B3
DIGEST_MASK = 2**64 - 1


def digest(numbers):
    """The digest of a sequence of numbers; `digest` in src/unicode/mod.rs is the same."""
    state = DIGEST_START
    for number in numbers:
        state = ((state ^ number) * DIGEST_PRIME) & DIGEST_MASK
    return state


# Properties of one character.


def is_cased(char):
    # `title` lowers what follows a cased character, and nothing else.
    return (char + "A").title()[-1] == "a"


def is_case_ignorable(char):
    # The rule of the final sigma skips case-ignorable characters, and no others.
    final_after_letter = ("A" + char + "\u03a3").lower()[-1] == "\u03c2"
    final_after_digit = ("1" + char + "\u03a3").lower()[-1] == "\u03c2"
    return final_after_letter and not final_after_digit


def is_titlecase(char):
    return unicodedata.category(char) == "Lt"


CLASSES = {
    "ALPHA": str.isalpha,
    "DECIMAL": str.isdecimal,
    "DIGIT": str.isdigit,
    "NUMERIC": str.isnumeric,
    "PRINTABLE": str.isprintable,
    "LOWERCASE": str.islower,
    "UPPERCASE": lambda char: char.isupper() and not is_titlecase(char),
    "TITLECASE": is_titlecase,
    "CASE_IGNORABLE": is_case_ignorable,
    "XID_START": lambda char: char.isidentifier() and char != "_",
    "XID_CONTINUE": lambda char: ("a" + char).isidentifier(),
    # The pattern has the other characters that an identifier could contain in Unicode 11.
    "NAME": jinja2._identifier.pattern.fullmatch,
}

# Properties that src/unicode/class.rs derives from other classes or lists by hand.
DERIVED = {
    "WHITESPACE": str.isspace,
    "CASED": is_cased,
    "WORD": lambda char: char.isalnum() or char == "_",
}

MAPPINGS = {
    "LOWER": str.lower,
    "UPPER": str.upper,
    "TITLE": str.title,
    "FOLD": str.casefold,
}


def class_runs():
    """The triples (first code point, its flags, flags of the second code point), one for each run in which these flags alternate.

    Upper and lower case letters alternate in many alphabets; in most other runs both flags are equal."""
    flags = [sum(1 << bit for bit, has in enumerate(CLASSES.values()) if has(chr(code))) for code in range(0x110000)]
    runs = []
    for code, its_flags in enumerate(flags):
        if not runs or its_flags != runs[-1][1 + (code - runs[-1][0]) % 2]:
            runs.append((code, its_flags, flags[min(code + 1, 0x10FFFF)]))
    return runs


def decimal_zeros():
    """The zero of each run of ten decimal digits."""
    zeros = [code for code in SCALARS if unicodedata.decimal(chr(code), None) == 0]
    decimals = [code for code in SCALARS if chr(code).isdecimal()]
    expected = [zero + value for zero in zeros for value in range(10)]
    assert decimals == expected, "decimal digits no longer come in runs of ten"
    assert all(int(chr(zero + 7)) == 7 for zero in zeros)
    return zeros


def split_mapping(mapping, fallback):
    """The exceptions of `mapping` to `fallback`: (one-to-one pairs, one-to-many pairs)."""
    single, multiple = [], []
    for code in SCALARS:
        char = chr(code)
        mapped = mapping(char)
        if mapped == fallback(char):
            continue
        if len(mapped) == 1:
            single.append((code, ord(mapped)))
        else:
            multiple.append((code, mapped))
    return single, multiple


def case_runs(pairs):
    """Runs (first, last, step, delta) of code points that map to themselves plus delta."""
    runs = []
    for code, mapped in pairs:
        delta = mapped - code
        if runs:
            first, last, step, run_delta = runs[-1]
            gap = code - last
            if run_delta == delta and gap in (1, 2) and step in (0, gap):
                runs[-1] = (first, code, gap, delta)
                continue
        runs.append((code, code, 0, delta))
    return [(first, last, step or 1, delta) for first, last, step, delta in runs]


# The file.


def rust_string(text):
    return '"' + "".join(f"\\u{{{ord(char):x}}}" for char in text) + '"'


def table(name, kind, doc, entries):
    lines = [f"/// {doc}", "#[rustfmt::skip]", f"pub(super) static {name}: [{kind}; {len(entries)}] = ["]
    line = "   "
    for entry in entries:
        if len(line) + len(entry) + 2 > 132:
            lines.append(line)
            line = "   "
        line += f" {entry},"
    lines.append(line)
    lines.append("];")
    return "\n".join(lines)


def main():
    assert sys.version_info[:2] == (3, 13), "the reference is CPython 3.13"
    assert unicodedata.unidata_version == "15.1.0"

    lower, lower_long = split_mapping(str.lower, lambda char: char)
    upper, upper_long = split_mapping(str.upper, lambda char: char)
    title, title_long = split_mapping(str.title, str.upper)
    fold, fold_long = split_mapping(str.casefold, lambda char: char.upper().lower())

    growth = max(
        len(mapping(chr(code)).encode()) / len(chr(code).encode())
        for mapping in MAPPINGS.values()
        for code in SCALARS
    )
    assert growth <= 3, "a mapping makes a text more than three times as long"

    def run_entries(pairs):
        return [f"({first:#x}, {last:#x}, {step}, {delta})" for first, last, step, delta in case_runs(pairs)]

    def long_entries(pairs):
        return [f"({code:#x}, {rust_string(mapped)})" for code, mapped in pairs]

    parts = [
        "//! Properties of characters in CPython 3.13 (Unicode 15.1).\n"
        "//!\n"
        "//! This file is generated by `tests/reference/unicode_tables.py`, which describes how each table is made. The functions over the tables\n"
        "//! are in `class.rs` and `case.rs`."
    ]
    constants = [f"pub(super) const {name}: u16 = {1 << bit:#x};" for bit, name in enumerate(CLASSES)]
    parts.append("\n".join(["// The flag of each class in `FLAGS`.", *constants]))
    runs = class_runs()
    flags = sorted({(even, odd) for _, even, odd in runs})
    assert len(flags) <= 256, "an index of flags has eight bits"
    parts.append(
        table(
            "FLAGS", "(u16, u16)",
            "The flags of the code points at even and at odd distances from the first one of a run.",
            [f"({even:#x}, {odd:#x})" for even, odd in flags],
        )
    )
    parts.append(
        table(
            "RUNS", "u32",
            "The runs: the first code point of each, and in the lowest eight bits the index of its flags.",
            [f"{code << 8 | flags.index((even, odd)):#x}" for code, even, odd in runs],
        )
    )
    parts.append(
        table(
            "DECIMAL_ZEROS", "u32", "The zero of each run of ten decimal digits.",
            [f"{code:#x}" for code in decimal_zeros()],
        )
    )
    run_kind = "(u32, u32, u32, i32)"
    runs_doc = "first and last code point, step, and the number to add to the code point."
    long_kind = "(u32, &str)"
    parts.append(table("LOWER_RUNS", run_kind, f"Lower case of one character: {runs_doc}", run_entries(lower)))
    parts.append(table("LOWER_LONG", long_kind, "Lower case of several characters.", long_entries(lower_long)))
    parts.append(table("UPPER_RUNS", run_kind, f"Upper case of one character: {runs_doc}", run_entries(upper)))
    parts.append(table("UPPER_LONG", long_kind, "Upper case of several characters.", long_entries(upper_long)))
    parts.append(table("TITLE_RUNS", run_kind, f"Title case of characters where it is not upper case: {runs_doc}", run_entries(title)))
    parts.append(table("TITLE_LONG", long_kind, "Title case of several characters where it is not upper case.", long_entries(title_long)))
    parts.append(table("FOLD_RUNS", run_kind, f"Case folding of characters where it is not the lower case of their upper case: {runs_doc}", run_entries(fold)))
    parts.append(table("FOLD_LONG", long_kind, "Case folding of several characters where it is not the lower case of their upper case.", long_entries(fold_long)))
    digests = []
    for name, has in (CLASSES | DERIVED).items():
        digests.append((name, digest(code for code in SCALARS if has(chr(code)))))
    digests.append(
        ("DECIMAL_VALUE", digest(number for code in SCALARS if chr(code).isdecimal() for number in (code, int(chr(code)))))
    )
    for name, mapping in MAPPINGS.items():
        def changes(mapping=mapping):
            for code in SCALARS:
                mapped = mapping(chr(code))
                if mapped != chr(code):
                    yield code
                    yield from map(ord, mapped)

        digests.append((name, digest(changes())))

    digests.append(
        (
            "NFKC",
            digest(
                number
                for code in SCALARS
                if ("a" + chr(code)).isidentifier()
                for number in map(ord, unicodedata.normalize("NFKC", chr(code)))
            ),
        )
    )
    lines = [
        "/// Digest of each property over all code points, as the reference has it.",
        "#[cfg(test)]",
        "#[rustfmt::skip]",
        f"pub(super) static DIGESTS: [(&str, u64); {len(digests)}] = [",
    ]
    lines += [f'    ("{name}", {value:#018x}),' for name, value in digests]
    lines.append("];")
    parts.append("\n".join(lines))
    TARGET.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
