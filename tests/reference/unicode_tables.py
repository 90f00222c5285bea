"""Writes the tables in src/unicode from the `str` and `unicodedata` of the Python that runs it, and jinja2's pattern of names.

    /path/to/python3.13 tests/reference/unicode_tables.py

The reference is CPython 3.13, which has Unicode 15.1. Each table is computed by calling methods that
templates can call (`chr(c).isalpha()`, `chr(c).upper()`, ...) instead of reading Unicode's files, so
the tables are exactly what CPython does. With the digests, a Rust test checks each property for all
code points without Python. A table is a file of hexadecimal numbers, which src/unicode/tables.rs reads.
"""

import pathlib
import sys
import textwrap
import unicodedata

import jinja2._identifier

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = ROOT / "src" / "unicode"

# A Rust `char` is never a surrogate.
SCALARS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]

# The digests are FNV-1a, taken a whole number at a time instead of a byte at a time.
DIGEST_START = 0xCBF29CE484222325
DIGEST_PRIME = 0x100000001B3
DIGEST_MASK = 2**64 - 1


def digest(numbers):
    """The digest of a sequence of numbers; `digest` in tests/library/unicode.rs is the same."""
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


# The files.


def write_table(name, numbers):
    lines = textwrap.wrap(" ".join(f"{number:x}" for number in numbers), 132)
    (TARGET / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    assert sys.version_info[:2] == (3, 13), "the reference is CPython 3.13"
    assert unicodedata.unidata_version == "15.1.0"

    growth = max(
        len(mapping(chr(code)).encode()) / len(chr(code).encode())
        for mapping in MAPPINGS.values()
        for code in SCALARS
    )
    assert growth <= 3, "a mapping makes a text more than three times as long"

    runs = class_runs()
    flags = sorted({(even, odd) for _, even, odd in runs})
    assert len(flags) <= 256, "an index of flags has eight bits"
    write_table("flags.txt", [even << 16 | odd for even, odd in flags])
    write_table("runs.txt", [code << 8 | flags.index((even, odd)) for code, even, odd in runs])
    write_table("decimal_zeros.txt", decimal_zeros())
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
    lines = [f"{name}\t{value:016x}\n" for name, value in digests]
    (ROOT / "tests" / "library" / "unicode.tsv").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
