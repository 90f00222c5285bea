//! The options that say which text counts as written by the model, on the command line and in a request of the port.
//!
//! ```text
//! --roles assistant,tool --no-reasoning      {"assistant": {"roles": ["assistant", "tool"], "reasoning": false}}
//! ```

use chat_template::AssistantOptions;
use chat_template::json::{Data, Object};

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
}

impl Masks {
    /// Returns the roles.
    pub fn roles(&self) -> Vec<&str> {
        self.roles.iter().map(String::as_str).collect()
    }

    /// Returns the options with these roles.
    pub fn options<'o>(&self, roles: &'o [&'o str]) -> AssistantOptions<'o> {
        AssistantOptions {
            roles,
            end_of_turn: !self.no_end_of_turn,
            reasoning: !self.no_reasoning,
            last_turn_only: self.last_turn_only,
            content_only: self.content_only,
            trailing_space: self.trailing_space,
            next_marker: self.next_marker,
        }
    }
}

/// Returns the roles of the key `assistant` of a request.
pub fn read_roles<'r>(request: &'r Object<'_>) -> Result<Vec<&'r str>, String> {
    let default = AssistantOptions::default().roles;
    let Some(Data::Object(options)) = request.get("assistant") else {
        return Ok(default.to_vec());
    };
    let role = |role: &'r Data<'_>| match role {
        Data::Str(role) => Some(&**role),
        _ => None,
    };
    let roles = match options.get("roles") {
        None => return Ok(default.to_vec()),
        Some(Data::List(roles)) => roles.iter().map(role).collect::<Option<Vec<_>>>(),
        Some(_) => None,
    };
    roles.ok_or_else(|| "`roles` must be an array of strings".to_owned())
}

/// Returns the options of the key `assistant` of a request: true, or an object with the names of the options.
pub fn read_options<'o>(request: &Object<'_>, roles: &'o [&'o str]) -> Result<Option<AssistantOptions<'o>>, String> {
    let mut read = AssistantOptions {
        roles,
        ..AssistantOptions::default()
    };
    let options = match request.get("assistant") {
        Some(Data::Bool(true)) => return Ok(Some(read)),
        Some(Data::Object(options)) => options,
        _ => return Ok(None),
    };
    for (name, value) in options.entries() {
        let option = match &**name {
            "roles" => continue,
            "end_of_turn" => &mut read.end_of_turn,
            "reasoning" => &mut read.reasoning,
            "last_turn_only" => &mut read.last_turn_only,
            "content_only" => &mut read.content_only,
            "trailing_space" => &mut read.trailing_space,
            "next_marker" => &mut read.next_marker,
            _ => return Err("`assistant` has a key that is not one of its options".to_owned()),
        };
        match value {
            Data::Bool(value) => *option = *value,
            other => return Err(format!("`{name}` must be a bool, and this is {}", other.describe())),
        }
    }
    Ok(Some(read))
}
