//! The width of a number: sign, prefix, grouped digits and padding, in their places.
//!
//! `1234567` with `012,` is `0,001,234,567`, and `-42` with `*=+6` is `-***42`. After CPython's `formatter_unicode.c`
//! (`calc_number_widths`, `fill_number`, `calc_padding`) and `unicodeobject.c` (`_PyUnicode_InsertThousandsGrouping`). Knows nothing
//! of specifications as text, nor of what the digits mean.

/// Where the padding goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// `<`: the text left.
    Left,
    /// `>`: the text right.
    Right,
    /// `^`: the text in the middle, the odd one of the padding right.
    Center,
    /// `=`: the padding between sign and digits.
    AfterSign,
}

/// Digits in groups: `1,234`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grouping {
    /// What stands between groups.
    pub separator: char,
    /// How many digits a group has.
    pub size: usize,
}

/// How a text is brought to its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// What the padding is made of.
    pub fill: char,
    /// Where it goes.
    pub align: Align,
    /// The least number of characters.
    pub width: usize,
    /// How the digits are grouped.
    pub grouping: Option<Grouping>,
}

/// The parts of a number's text.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// `-`, `+`, a space, or nothing.
    pub sign: &'a str,
    /// `0x`, or nothing.
    pub prefix: &'a str,
    /// The digits before the point, which zeros and separators may join.
    pub digits: &'a str,
    /// What follows: point, fraction, exponent; or all of it, where it is not digits.
    pub rest: &'a str,
}

/// The number in its layout.
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

/// The text in its layout; it has no sign, so padding after that is padding right.
pub fn lay_out_text(text: &str, layout: &Layout) -> String {
    let parts = Parts {
        sign: "",
        prefix: "",
        digits: "",
        rest: text,
    };
    lay_out_number(&parts, layout)
}

/// The digits in groups, filled with zeros to that many characters, or one more where the first would be a separator.
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
                width = width.saturating_add(1);
                in_group = 0;
            }
        }
        reversed.push(left.next().unwrap_or('0'));
        width = width.saturating_add(1);
        in_group = in_group.saturating_add(1);
    }
    reversed.chars().rev().collect()
}

/// Appends that many characters.
fn push_fill(text: &mut String, fill: char, count: usize) {
    text.extend(std::iter::repeat_n(fill, count));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(digits: &str, align: Align, fill: char, width: usize) -> String {
        let grouping = Some(Grouping { separator: ',', size: 3 });
        let parts = Parts {
            sign: "-",
            prefix: "",
            digits,
            rest: ".5",
        };
        lay_out_number(
            &parts,
            &Layout {
                fill,
                align,
                width,
                grouping,
            },
        )
    }

    #[test]
    fn zeros_are_grouped_with_the_digits() {
        assert_eq!(number("1234567", Align::AfterSign, '0', 15), "-0,001,234,567.5");
        assert_eq!(number("1", Align::AfterSign, '0', 7), "-0,001.5");
        assert_eq!(number("1", Align::AfterSign, '*', 7), "-***1.5");
        assert_eq!(number("1234", Align::Center, '*', 11), "*-1,234.5**");
    }

    #[test]
    fn text_is_padded_by_characters() {
        let layout = Layout {
            fill: 'é',
            align: Align::Right,
            width: 3,
            grouping: None,
        };
        assert_eq!(lay_out_text("ä", &layout), "ééä");
    }
}
