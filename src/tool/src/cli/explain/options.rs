//! The options that draw a picture.

use std::path::{Path, PathBuf};

use crate::conformance::printable;
use chat_template::{ControlPolicy, ControlTokens};

use super::super::print;
use super::{By, Picture};

/// The roles from which a template may form a control token without a warning.
const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

/// The options that draw a picture.
#[derive(clap::Args)]
pub struct Explained {
    /// Prints a picture of the prompt instead: where each character came from, or which message owns it. Without BY, it is the origin.
    #[arg(long, value_name = "BY", num_args = 0..=1, default_missing_value = "origin", conflicts_with = "json")]
    explain: Option<By>,
    /// Writes the picture to a file as an HTML page, which loads nothing. Without --explain, nothing is printed.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    explain_html: Option<PathBuf>,
    /// A control token that the picture marks besides those of the model. The option can be repeated.
    #[arg(long = "control-token", value_name = "TOKEN")]
    control_tokens: Vec<String>,
}

impl Explained {
    /// Returns whether a picture is drawn, which needs a prompt that is traced.
    pub fn is_wanted(&self) -> bool {
        self.is_printed() || self.explain_html.is_some()
    }

    /// Returns the path of the page.
    pub fn page(&self) -> Option<&Path> {
        self.explain_html.as_deref()
    }

    /// Returns whether a picture is printed.
    pub fn is_printed(&self) -> bool {
        self.explain.is_some()
    }

    /// Returns the control tokens besides those of the model.
    pub fn control_tokens(&self) -> Vec<&str> {
        self.control_tokens.iter().map(String::as_str).collect()
    }

    /// Returns how the control tokens of the prompt are checked.
    pub fn policy<'o>(&self, tokens: &'o [&'o str]) -> ControlTokens<'o> {
        let policy = if self.is_wanted() {
            ControlPolicy::Split
        } else {
            ControlPolicy::Leave
        };
        ControlTokens::default()
            .with_policy(policy)
            .with_tokens(tokens)
            .with_roles(&ROLES)
    }

    /// Writes the page and prints the picture.
    pub fn draw(&self, picture: &Picture<'_>, title: &str, is_colored: bool) -> Result<(), String> {
        if let Some(path) = &self.explain_html {
            let page = picture.page(&printable(title), self.explain.unwrap_or(By::Origin));
            std::fs::write(path, page).map_err(|error| format!("error: {}: {error}", path.display()))?;
        }
        match self.explain {
            Some(by) => print(picture.terminal(by, is_colored)).map_err(|error| format!("error: {error}")),
            None => Ok(()),
        }
    }
}
