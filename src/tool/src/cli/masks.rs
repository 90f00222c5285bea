//! The options that say which text counts as written by the model, on the command line and in a request of the port.
//!
//! ```text
//! --roles assistant,tool --no-reasoning      {"assistant": {"roles": ["assistant", "tool"], "reasoning": false}}
//! ```

use chat_template::AssistantOptions;
use chat_template::json::{Data, Object};
#[cfg(not(target_family = "wasm"))]
use chat_template::{Bounds, ChatTemplate};

/// The options of the spans of what the model writes.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "What the model writes")]
pub struct Masks {
    /// The roles of the messages that the model writes, separated by commas.
    #[arg(long, value_name = "ROLE,…", value_delimiter = ',', default_value = "assistant")]
    roles: Vec<String>,
    /// Leaves out the reasoning and the tags around it.
    #[arg(long)]
    no_reasoning: bool,
    /// Takes only the last message of the model.
    #[arg(long)]
    last_turn_only: bool,
    /// Takes only the text of the field content.
    #[arg(long)]
    content_only: bool,
    /// Leaves out the token that ends the turn.
    #[arg(long)]
    no_end_of_turn: bool,
    /// Takes the white space after the end of the turn too.
    #[arg(long)]
    trailing_space: bool,
    /// Takes the token that begins the next turn, if no other token ends the turn.
    #[arg(long)]
    next_marker: bool,
    /// Leaves out the token that begins the next turn. Without either option, it is included if the template ends no turn of the model with a
    /// token.
    #[arg(long, conflicts_with = "next_marker")]
    no_next_marker: bool,
}

impl Masks {
    /// Returns the roles.
    pub fn roles(&self) -> Vec<&str> {
        self.roles.iter().map(String::as_str).collect()
    }

    /// Returns the options with these roles.
    pub fn options<'o>(&self, roles: &'o [&'o str]) -> AssistantOptions<'o> {
        AssistantOptions::default()
            .with_roles(roles)
            .with_end_of_turn(!self.no_end_of_turn)
            .with_reasoning(!self.no_reasoning)
            .with_last_turn_only(self.last_turn_only)
            .with_content_only(self.content_only)
            .with_trailing_space(self.trailing_space)
            .with_next_marker(self.next_marker)
    }

    /// Returns the options for a template. If the report finds that no token of the template ends a turn of the model, the token that begins
    /// the next turn is taken, and there is a warning.
    #[cfg(not(target_family = "wasm"))]
    pub fn for_template(&self, chat: &ChatTemplate, bounds: Bounds<'_>) -> (Self, Option<&'static str>) {
        let mut masks = self.clone();
        if self.next_marker || self.no_next_marker || self.no_end_of_turn || self.content_only {
            return (masks, None);
        }
        let findings = chat
            .inspect(bounds)
            .and_then(|report| report.get::<Vec<serde_json::Value>>("lint"));
        masks.next_marker = findings.is_ok_and(|findings| findings.iter().any(|finding| finding["rule"] == "untrained-stop"));
        let warning = "warning: the template writes the token that ends an answer with the next message, so this token is trained with the answer; \
                       --no-next-marker leaves it out";
        let warning = masks.next_marker.then_some(warning);
        (masks, warning)
    }

    /// Reads the key `assistant` of a request: true, or an object with the names of the options.
    pub fn read(request: &Object<'_>) -> Result<Option<Self>, String> {
        let mut masks = Self {
            roles: vec!["assistant".to_owned()],
            no_reasoning: false,
            last_turn_only: false,
            content_only: false,
            no_end_of_turn: false,
            trailing_space: false,
            next_marker: false,
            no_next_marker: false,
        };
        let options = match request.get("assistant") {
            Some(Data::Bool(true)) => return Ok(Some(masks)),
            Some(Data::Object(options)) => options,
            _ => return Ok(None),
        };
        for (name, value) in options.entries() {
            let (option, is_inverse) = match &**name {
                "roles" => {
                    masks.roles = read_roles(value)?;
                    continue;
                }
                "end_of_turn" => (&mut masks.no_end_of_turn, true),
                "reasoning" => (&mut masks.no_reasoning, true),
                "last_turn_only" => (&mut masks.last_turn_only, false),
                "content_only" => (&mut masks.content_only, false),
                "trailing_space" => (&mut masks.trailing_space, false),
                "next_marker" => (&mut masks.next_marker, false),
                _ => return Err("`assistant` has a key that is not one of its options".to_owned()),
            };
            match value {
                Data::Bool(value) => *option = *value != is_inverse,
                other => return Err(format!("`{name}` must be a bool, and this is {}", other.describe())),
            }
        }
        Ok(Some(masks))
    }
}

fn read_roles(roles: &Data<'_>) -> Result<Vec<String>, String> {
    let role = |role: &Data<'_>| match role {
        Data::Str(role) => Some(role.to_string()),
        _ => None,
    };
    let roles = match roles {
        Data::List(roles) => roles.iter().map(role).collect::<Option<Vec<_>>>(),
        _ => None,
    };
    roles.ok_or_else(|| "`roles` must be an array of strings".to_owned())
}
