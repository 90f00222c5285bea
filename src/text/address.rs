//! What looks like a link: the two patterns of jinja2's `urlize`.
//!
//! ```text
//! is_web_address("example.com/x")        true     some endings need no scheme
//! is_web_address("http://localhost")     false    but a host needs a dot
//! is_mail_address("a@b.c")               true
//! ```
//!
//! By hand instead of by a regular expression, so that the time is linear: behind each host must stand
//! a port, a path or the end, none of which continues a host, hence every part has only one possible
//! length. The rules are those of jinja2's `utils.py`, `_http_re` and `_email_re`, with the classes of
//! Python's `re`. The texts have no whitespace inside.

use super::slice::char_count;
use crate::unicode::{is_decimal, is_word};

/// Endings that make a name a link without a scheme.
const KNOWN_ENDINGS: [&str; 8] = ["com", "net", "int", "edu", "gov", "org", "info", "mil"];

/// Whether `_http_re` matches the text.
pub(super) fn is_web_address(text: &str) -> bool {
    let after_scheme = strip_scheme(text);
    let after_prefix = after_scheme.or_else(|| strip_prefix_ignoring_case(text, "www."));
    after_prefix.and_then(after_named_host).is_some_and(is_port_and_path)
        || after_known_host(text).is_some_and(is_port_and_path)
        || after_scheme.and_then(after_ipv4).is_some_and(is_port_and_path)
        || after_scheme.and_then(after_ipv6).is_some_and(is_port_and_path)
}

/// Whether `_email_re` matches the text: `^\S+@\w[\w.-]*\.\w+$`.
pub(super) fn is_mail_address(text: &str) -> bool {
    // No `@` may follow the one that counts, so it is the last.
    let Some((user, host)) = text.rsplit_once('@') else {
        return false;
    };
    let Some((name, ending)) = host.rsplit_once('.') else {
        return false;
    };
    !user.is_empty()
        && name.starts_with(is_word)
        && name.chars().all(|char| is_word(char) || matches!(char, '.' | '-'))
        && !ending.is_empty()
        && ending.chars().all(is_word)
}

/// The lower-case ASCII letter that `re.IGNORECASE` takes the character for.
fn ignoring_case(char: char) -> char {
    match char {
        // Python knows these as other cases of ASCII letters.
        'İ' | 'ı' => 'i',
        'ſ' => 's',
        '\u{212a}' => 'k',
        _ => char.to_ascii_lowercase(),
    }
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    let matches = prefix
        .chars()
        .all(|expected| rest.next().map(ignoring_case) == Some(expected));
    matches.then_some(rest.as_str())
}

/// Behind `https?://`.
fn strip_scheme(text: &str) -> Option<&str> {
    strip_prefix_ignoring_case(text, "http://").or_else(|| strip_prefix_ignoring_case(text, "https://"))
}

/// The labels of a host and what follows it.
///
/// A host is all that `[\w%.-]` covers: what may follow is not of that class.
fn split_host(text: &str) -> (&str, &str) {
    let is_outside = |char| !(is_word(char) || matches!(char, '%' | '.' | '-'));
    text.split_at_checked(text.find(is_outside).unwrap_or(text.len()))
        .unwrap_or((text, ""))
}

/// Behind `(([\w%-]+\.)+)?([a-z]{2,63}|xn--[\w%]{2,59})`.
fn after_named_host(text: &str) -> Option<&str> {
    let (host, rest) = split_host(text);
    let (labels, ending) = match host.rsplit_once('.') {
        Some((labels, ending)) => (Some(labels), ending),
        None => (None, host),
    };
    let has_labels = labels.is_none_or(|labels| labels.split('.').all(|label| !label.is_empty()));
    let is_plain = matches!(char_count(ending), 2..=63) && ending.chars().all(|char| ignoring_case(char).is_ascii_lowercase());
    let is_encoded = strip_prefix_ignoring_case(ending, "xn--")
        .is_some_and(|encoded| matches!(char_count(encoded), 2..=59) && !encoded.contains('-'));
    (has_labels && (is_plain || is_encoded)).then_some(rest)
}

/// Behind `([\w%-]{2,63}\.)+(com|net|int|edu|gov|org|info|mil)`.
fn after_known_host(text: &str) -> Option<&str> {
    let (host, rest) = split_host(text);
    let (labels, ending) = host.rsplit_once('.')?;
    let has_labels = labels.split('.').all(|label| matches!(char_count(label), 2..=63));
    let is_known = KNOWN_ENDINGS
        .iter()
        .any(|known| strip_prefix_ignoring_case(ending, known).is_some_and(str::is_empty));
    (has_labels && is_known).then_some(rest)
}

/// Behind `\d{1,3}(\.\d{1,3}){3}`.
fn after_ipv4(text: &str) -> Option<&str> {
    let is_outside = |char| !(is_decimal(char) || char == '.');
    let end = text.find(is_outside).unwrap_or(text.len());
    let (address, rest) = text.split_at_checked(end)?;
    let mut parts = 0_usize;
    for part in address.split('.') {
        parts = parts.saturating_add(1);
        if parts > 4 || !matches!(char_count(part), 1..=3) {
            return None;
        }
    }
    (parts == 4).then_some(rest)
}

/// Behind `\[([\da-f]{0,4}:){2}([\da-f]{0,4}:?){1,6}]`.
fn after_ipv6(text: &str) -> Option<&str> {
    let mut rest = text.strip_prefix('[')?;
    for _ in 0..2 {
        rest = after_hex_digits(rest).strip_prefix(':')?;
    }
    // Each part takes as much as it can: what it leaves is then as short as possible.
    for _ in 0..6 {
        rest = after_hex_digits(rest);
        rest = rest.strip_prefix(':').unwrap_or(rest);
    }
    rest.strip_prefix(']')
}

/// Behind `[\da-f]{0,4}`.
fn after_hex_digits(text: &str) -> &str {
    let is_digit = |char: char| is_decimal(char) || char.is_ascii_hexdigit();
    let mut rest = text;
    for _ in 0..4 {
        rest = rest.strip_prefix(is_digit).unwrap_or(rest);
    }
    rest
}

/// Whether the text is `(?::\d{1,5})?(?:[/?#]\S*)?`.
fn is_port_and_path(text: &str) -> bool {
    let path = text.strip_prefix(':').map_or(Some(text), |port| {
        let end = port.find(|char| !is_decimal(char)).unwrap_or(port.len());
        let (digits, path) = port.split_at_checked(end)?;
        matches!(char_count(digits), 1..=5).then_some(path)
    });
    path.is_some_and(|path| path.is_empty() || path.starts_with(['/', '?', '#']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_addresses() {
        for text in [
            "http://a.bc",
            "HTTPS://ab",
            "www.example.xn--ab",
            "example.com",
            "a-b.co.ORG:80/x?y",
            "http://1.22.333.4",
            "http://[::1]:8080/",
            "http://[1:2:3:4:5:6:7:8]",
            "ab.ınfo",
            "wwww.com",
        ] {
            assert!(is_web_address(text), "{text}");
        }
        for text in [
            "http://a",
            "a.com",
            "example.de",
            "http://a..bc",
            "http://a.b1",
            "http://a.bc:",
            "www.",
            "http://a.bc:123456",
            "http://a.bc&x",
            "1.2.3.4",
            "http://1.2.3",
            "http://[:]",
            "http://a.xn--a-b",
        ] {
            assert!(!is_web_address(text), "{text}");
        }
    }

    #[test]
    fn mail_addresses() {
        for text in ["a@b.c", "a@@b.c", "!@b-.x.c_1"] {
            assert!(is_mail_address(text), "{text}");
        }
        for text in ["@b.c", "a@b", "a@.c", "a@-b.c", "a@b.c-d", "a@b.", "a@b/.c"] {
            assert!(!is_mail_address(text), "{text}");
        }
    }
}
