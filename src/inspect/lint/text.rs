//! Faults that the text between tags shows.

use super::Findings;
use super::rules::{PRINTED_INDENTATION, STRAY_NEWLINE};
use crate::lexer::{Lexer, Token, TokenKind};
use crate::template::Template;

pub fn inspect(template: &Template, findings: &mut Findings<'_>) {
    let source = template.source();
    let mut lexer = Lexer::new(source);
    let mut token = Token::default();
    let mut before = TokenKind::End;
    // The text before the current token, and the kind of the token before it.
    let mut text: Option<(Token, TokenKind)> = None;
    while lexer.next(&mut token).is_ok() {
        if let Some((data, before)) = text.take() {
            check(source.slice(data.span), data.span.start, [before, token.kind], findings);
        }
        match token.kind {
            TokenKind::Data => text = Some((token, before)),
            TokenKind::End => break,
            _ => {}
        }
        before = token.kind;
    }
}

/// Checks the text between two tags.
fn check(text: &str, start: u32, [before, after]: [TokenKind; 2], findings: &mut Findings<'_>) {
    let is_blank = text.chars().all(char::is_whitespace);
    if is_blank && text.contains('\n') && before == TokenKind::BlockEnd && after == TokenKind::BlockBegin {
        findings.add(&STRAY_NEWLINE, start, "");
    }
    if after != TokenKind::VariableBegin {
        return;
    }
    let line = text.rsplit('\n').next().unwrap_or_default();
    let begins_line = text.contains('\n') || before == TokenKind::BlockEnd;
    let is_indentation = line.len() > 1 && line.chars().all(|char| char == ' ' || char == '\t');
    if begins_line && is_indentation {
        let at = text.len() - line.len();
        findings.add(
            &PRINTED_INDENTATION,
            start.saturating_add(u32::try_from(at).unwrap_or_default()),
            "",
        );
    }
}
