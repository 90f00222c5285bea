//! Properties of characters in CPython 3.13 (Unicode 15.1).
//!
//! `tests/reference/unicode_tables.py` writes the files with the numbers, and describes how each table is made. The functions over the
//! tables are in `class.rs`.

// The flag of each class in `FLAGS`, in the order of the script.
pub(super) const ALPHA: u32 = 0x1;
pub(super) const DECIMAL: u32 = 0x2;
pub(super) const DIGIT: u32 = 0x4;
pub(super) const NUMERIC: u32 = 0x8;
pub(super) const PRINTABLE: u32 = 0x10;
pub(super) const LOWERCASE: u32 = 0x20;
pub(super) const UPPERCASE: u32 = 0x40;
pub(super) const TITLECASE: u32 = 0x80;
pub(super) const CASE_IGNORABLE: u32 = 0x100;
pub(super) const XID_START: u32 = 0x200;
pub(super) const XID_CONTINUE: u32 = 0x400;
pub(super) const NAME: u32 = 0x800;

macro_rules! tables {
    ($($(#[$docs:meta])* $name:ident = $file:literal;)*) => {
        $($(#[$docs])* pub(super) static $name: [u32; count(include_str!($file))] = read(include_str!($file));)*
    };
}

tables! {
    /// The flags of the code points at even and at odd distances from the first one of a run, the even ones in the upper half.
    FLAGS = "flags.txt";
    /// The runs: the first code point of each, and in the lowest eight bits the index of its flags.
    RUNS = "runs.txt";
    /// The zero of each run of ten decimal digits.
    DECIMAL_ZEROS = "decimal_zeros.txt";
}

/// Returns the number of numbers in a table.
const fn count(table: &str) -> usize {
    let (mut rest, mut count) = (table.as_bytes(), 0_usize);
    while let [byte, after @ ..] = rest {
        count = count.wrapping_add((*byte <= b' ') as usize);
        rest = after;
    }
    count
}

/// Reads the numbers of a table: hexadecimal digits, with a blank or a line break after each number.
#[expect(clippy::indexing_slicing, reason = "the compiler checks the bounds of constant expressions")]
const fn read<const COUNT: usize>(table: &str) -> [u32; COUNT] {
    let (mut rest, mut numbers, mut index) = (table.as_bytes(), [0; COUNT], 0_usize);
    while let [byte, after @ ..] = rest {
        rest = after;
        match (*byte as char).to_digit(16) {
            Some(digit) => numbers[index] = numbers[index] << 4 | digit,
            None => index = index.wrapping_add(1),
        }
    }
    numbers
}
