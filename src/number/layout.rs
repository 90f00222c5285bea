//! The layout of a number in its width: sign, prefix, grouped digits and padding.
//!
//! `1234567` with `012,` is `0,001,234,567`, and `-42` with `*=+6` is `-***42`. The rules are CPython's `formatter_unicode.c`
//! (`calc_number_widths`, `fill_number`, `calc_padding`) and `unicodeobject.c` (`_PyUnicode_InsertThousandsGrouping`). This file does not
//! parse specifications.

/// The position of the padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// `<`: padding after the text.
    Left,
    /// `>`: padding before the text.
    Right,
    /// `^`: padding on both sides, with the extra character on the right.
    Center,
    /// `=`: padding between sign and digits.
    AfterSign,
}

/// The grouping of digits: `1,234`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grouping {
    /// The character between groups.
    pub separator: char,
    /// The number of digits in a group.
    pub size: usize,
}

/// The layout of a string in its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The padding character.
    pub fill: char,
    /// The position of the padding.
    pub align: Align,
    /// The minimum number of characters.
    pub width: usize,
    /// The grouping of the digits.
    pub grouping: Option<Grouping>,
}

/// The parts of a number's text.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// `-`, `+`, a space, or nothing.
    pub sign: &'a str,
    /// `0x` or another prefix, or nothing.
    pub prefix: &'a str,
    /// The digits before the point. Padding zeros and separators are added to these.
    pub digits: &'a str,
    /// The text after the digits: point, fraction, exponent. A number without digits, such as `inf`, is entirely in this part.
    pub rest: &'a str,
}

/// Formats the parts of a number in a layout.
pub fn lay_out_number(parts: &Parts<'_>, layout: &Layout) -> String {
    let fixed: usize = [parts.sign, parts.prefix, parts.rest]
        .map(|part| part.chars().count())
        .iter()
        .sum();
    let min_digits = if layout.fill == '0' && layout.align == Align::AfterSign {
        layout.width.saturating_sub(fixed)
    } else {
        0
    };
    let digits = group_digits(parts.digits, min_digits, layout.grouping);
    let missing = layout.width.saturating_sub(fixed).saturating_sub(digits.len());
    let (left, inner, right) = match layout.align {
        Align::Left => (0, 0, missing),
        Align::Right => (missing, 0, 0),
        Align::Center => (missing / 2, 0, missing.div_ceil(2)),
        Align::AfterSign => (0, missing, 0),
    };
    let mut text = String::new();
    push_fill(&mut text, layout.fill, left);
    text.push_str(parts.sign);
    text.push_str(parts.prefix);
    push_fill(&mut text, layout.fill, inner);
    text.push_str(&digits);
    text.push_str(parts.rest);
    push_fill(&mut text, layout.fill, right);
    text
}

/// Formats a string in a layout. A string has no sign, so padding after the sign is padding before the text.
pub fn lay_out_text(text: &str, layout: &Layout) -> String {
    let parts = Parts {
        sign: "",
        prefix: "",
        digits: "",
        rest: text,
    };
    lay_out_number(&parts, layout)
}

/// Groups digits, and fills them with zeros to a minimum width. The result is one character longer if it would start with a separator.
fn group_digits(digits: &str, min_width: usize, grouping: Option<Grouping>) -> String {
    if digits.is_empty() {
        return String::new();
    }
    let mut reversed = String::with_capacity(digits.len().max(min_width).saturating_add(digits.len() / 3));
    let mut left = digits.bytes().rev().map(char::from).peekable();
    let mut width = 0;
    let mut in_group = 0;
    while left.peek().is_some() || width < min_width {
        if let Some(grouping) = grouping {
            if in_group == grouping.size {
                reversed.push(grouping.separator);
                width += 1;
                in_group = 0;
            }
        }
        reversed.push(left.next().unwrap_or('0'));
        width += 1;
        in_group += 1;
    }
    reversed.chars().rev().collect()
}

/// Appends `count` fill characters.
fn push_fill(text: &mut String, fill: char, count: usize) {
    text.extend(std::iter::repeat_n(fill, count));
}
