//! Access to the lexer and the parser for the fuzz targets.
//!
//! ```text
//! lex("a{{ b }}")                  0..1, 1..3, 4..5, 6..8
//! print_and_reparse("{{ a+b }}")   twice "{%+ print ((a) + (b)) +%}"
//! ```
//!
//! The properties that are checked are in `fuzz/fuzz_targets`.

use std::ops::Range;

use crate::ast::{Parentheses, print};
use crate::error::{ErrorKind, Result};
use crate::lexer::{Lexer, Token, TokenKind};
use crate::parser::parse;
use crate::source::Source;
use crate::template::Template;

/// Panics if this build can compile nothing, because then no target would check anything.
///
/// The depth of the stack is measured by the addresses of local variables. The address sanitizer moves them off the stack, so every
/// template exceeds [`Limits::stack`](crate::Limits::stack).
pub fn assert_usable() {
    let compiled = Template::compile("{{ 1 + 1 }}");
    assert!(
        compiled.is_ok(),
        "fuzz with `--sanitizer none`: no template compiles: {compiled:?}"
    );
}

/// The tokens of a source, up to the first error.
#[derive(Debug)]
pub struct Tokens {
    /// The source with normalised line ends.
    pub source: String,
    /// The byte range of each token in `source`.
    pub spans: Vec<Range<usize>>,
    /// Whether the whole source was read without an error.
    pub is_complete: bool,
}

/// Returns the tokens of a template.
pub fn lex(text: &str) -> Tokens {
    let source = Source::new(text);
    let mut tokens = Tokens {
        source: source.text().to_owned(),
        spans: Vec::new(),
        is_complete: true,
    };
    let mut lexer = Lexer::new(&source);
    let mut token = Token::default();
    loop {
        match lexer.next(&mut token) {
            Ok(()) if token.kind == TokenKind::End => break,
            Ok(()) => tokens.spans.push(token.span.start as usize..token.span.end as usize),
            Err(_) => {
                tokens.is_complete = false;
                break;
            }
        }
    }
    tokens
}

/// Parses a template.
///
/// # Errors
/// If the template does not parse.
pub fn check_syntax(text: &str) -> Result<()> {
    parse(&Source::new(text)).map(drop)
}

/// Parses a template, prints the tree as source, and parses that source. Returns both trees, printed with all parentheses.
///
/// Returns `None` if the template does not parse, or if the printed source nests too deep.
///
/// # Errors
/// If the printed source does not parse for another reason.
pub fn print_and_reparse(text: &str) -> Result<Option<[String; 2]>> {
    let Ok(first) = parse(&Source::new(text)) else {
        return Ok(None);
    };
    // `a is t not` reads a variable `not`. The printer writes it in parentheses, where it does not parse.
    if first.symbols.find("not").is_some() {
        return Ok(None);
    }
    match parse(&Source::new(&print(&first, Parentheses::Needed))) {
        Ok(second) => Ok(Some([&first, &second].map(|template| print(template, Parentheses::All)))),
        Err(error) if error.kind() == ErrorKind::Limit => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{self, Data};

    /// Returns the templates of all cases.
    fn templates() -> Vec<String> {
        let mut folders = vec![std::path::PathBuf::from("tests/cases")];
        let mut templates = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                    for line in std::fs::read_to_string(path).unwrap().lines() {
                        let Ok(Data::Object(case)) = json::read(line) else {
                            continue;
                        };
                        if let Some(Data::Str(template)) = case.get("template") {
                            templates.push(template.to_string());
                        }
                    }
                }
            }
        }
        templates
    }

    #[test]
    fn the_printed_source_of_a_tree_parses_to_the_same_tree() {
        let mut count = 0_usize;
        for template in templates() {
            match print_and_reparse(&template) {
                Ok(Some([first, second])) => assert_eq!(first, second, "{template}"),
                Ok(None) => continue,
                Err(error) => panic!("{error}: {template}"),
            }
            count += 1;
        }
        assert!(count > 500, "{count} templates");
    }

    #[test]
    fn parentheses_are_printed_where_they_are_needed() {
        let [first, _] = print_and_reparse("{{ (a+b)*c if not d is e else -f[1:]|g }}")
            .unwrap()
            .unwrap();
        assert_eq!(
            first,
            "{%+ print ((((a) + (b)) * (c)) if ((d) is not e()) else ((-((f)[(1)::]))|g())) +%}"
        );
        let source = Source::new("{{ (a+b)*c if not d is e else (-f[1:])|g }}");
        let written = print(&parse(&source).unwrap(), Parentheses::Needed);
        assert_eq!(written, "{%+ print (a + b) * c if d is not e() else -f[1::]|g() +%}");
    }
}
