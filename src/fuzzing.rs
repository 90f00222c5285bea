//! What fuzzing sees of the floors below the public engine; cargo-fuzz builds it by `cfg(fuzzing)`, and the crate's own tests do.
//!
//! ```text
//! tokens("a{{ b }}")           0..1, 1..3, 4..5, 6..8
//! written_again("{{ a+b }}")   twice "{%+ print (a + b) +%}", with more parentheses
//! ```
//!
//! What must hold is said in `fuzz/fuzz_targets`.

use std::ops::Range;

use crate::ast::{Parentheses, print};
use crate::error::{ErrorKind, Result};
use crate::lexer::{Lexer, Token, TokenKind};
use crate::parser::parse;
use crate::source::Source;

/// The tokens of a source, up to the first error.
#[derive(Debug)]
pub struct Tokens {
    /// The source with its line ends normalised, to which places belong.
    pub source: String,
    /// Where each token stands.
    pub spans: Vec<Range<usize>>,
    /// Whether there was no error.
    pub are_whole: bool,
}

/// Lexes a template.
pub fn tokens(text: &str) -> Tokens {
    let source = Source::new(text);
    let mut tokens = Tokens {
        source: source.text().to_owned(),
        spans: Vec::new(),
        are_whole: true,
    };
    let mut lexer = Lexer::new(&source);
    let mut token = Token::default();
    loop {
        match lexer.next(&mut token) {
            Ok(()) if token.kind == TokenKind::End => break,
            Ok(()) => tokens.spans.push(token.span.start as usize..token.span.end as usize),
            Err(_) => {
                tokens.are_whole = false;
                break;
            }
        }
    }
    tokens
}

/// The tree of a template, and that of the template that is written from it, each with all parentheses; none where a template does not
/// parse, or nests too deep once it is written anew.
///
/// # Errors
/// When what was written from a tree does not parse.
pub fn written_again(text: &str) -> Result<Option<[String; 2]>> {
    let Ok(first) = parse(&Source::new(text)) else {
        return Ok(None);
    };
    // `a is t not` reads a variable `not`, which can be written nowhere else.
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

    /// The templates of all cases that parse.
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
                        let Ok(Data::Object(case)) = json::read(line, json::DEPTH) else {
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
    fn what_is_written_and_parsed_again_is_the_same_tree() {
        let mut count = 0_usize;
        for template in templates() {
            match written_again(&template) {
                Ok(Some([first, second])) => assert_eq!(first, second, "{template}"),
                Ok(None) => continue,
                Err(error) => panic!("{error}: {template}"),
            }
            count = count.saturating_add(1);
        }
        assert!(count > 500, "{count} templates");
    }

    #[test]
    fn parentheses_stand_where_they_are_needed() {
        let [first, _] = written_again("{{ (a+b)*c if not d is e else -f[1:]|g }}").unwrap().unwrap();
        assert_eq!(
            first,
            "{%+ print ((((a) + (b)) * (c)) if ((d) is not e()) else ((-((f)[(1)::]))|g())) +%}"
        );
        let source = Source::new("{{ (a+b)*c if not d is e else (-f[1:])|g }}");
        let written = print(&parse(&source).unwrap(), Parentheses::Needed);
        assert_eq!(written, "{%+ print (a + b) * c if d is not e() else -f[1::]|g() +%}");
    }
}
