use chat_template::json::Data;
use chat_template::{ApplyOptions, AssistantOptions, ChatTemplate, ControlPolicy, ControlTokens, Prompt};

use super::{By, MAX_BYTES, Picture, REST};

const SOURCE: &str = "{{ bos_token }}{{ bos_token }}{% for m in messages %}\n\n<|{{ m.role }}|> {% generation %}{{ m.content }}{% endgeneration %}{% endfor %}{{ messages|length }}";

fn with_picture<T>(content: &str, draw: impl Fn(&Prompt, &Picture<'_>) -> T) -> T {
    let template = ChatTemplate::from_source(SOURCE, &[("bos_token", "<s>")]).unwrap();
    let messages = serde_json::json!([{"role": "user", "content": content}]);
    let messages: Data<'_> = chat_template::json::to_data(&messages).unwrap();
    let options = ApplyOptions::default()
        .with_trace(true)
        .with_assistant(AssistantOptions::default())
        .with_control_tokens(
            ControlTokens::default()
                .with_policy(ControlPolicy::Split)
                .with_tokens(&["<|end|>"])
                .with_roles(&[]),
        );
    let prompt = template.apply(&messages, &options).unwrap();
    let picture = Picture::new(
        &prompt,
        &["<s>", "<|end|>"],
        Some(&messages),
        Some("<s>"),
        vec!["warning: unread".to_owned()],
    )
    .unwrap();
    draw(&prompt, &picture)
}

#[test]
fn without_colours_each_part_has_a_row() {
    let shown = with_picture("a\n\x1b[31m<|end|>", |_, picture| picture.terminal(By::Origin, false));
    assert_eq!(
        shown,
        "                  token bos_token        │ <s>
                  token bos_token        │ <s>
message 1 (user)  line 2                 │ ⏎
                                         │ <|
message 1 (user)  /messages/0/role       │ user
message 1 (user)  line 3                 │ |>·
message 1 (user)  /messages/0/content    ┃ a⏎
                                         ┃ ␛[31m
message 1 (user)  ! /messages/0/content  ┃ <|end|>
                  made                   │ 1

line N: written in the template on this line   token NAME: special token
/PATH: the string of the input   ! control token that the input wrote   ┃ what the model writes

warning: unread
warning: the prompt has the token <s> twice in a row
warning: message 1 (user) has the control token <|end|> at /messages/0/content
"
    );
}

#[test]
fn with_colours_each_line_has_its_origins() {
    let shown = with_picture("a\n<|end|>", |_, picture| picture.terminal(By::Origin, true));
    let plain = remove_styles(&shown);
    assert_eq!(
        plain,
        "<s><s>⏎     │ token bos_token, line 2
<|user|>·a⏎ │ line 2, /messages/0/role, line 3, /messages/0/content
<|end|>1    │ ! /messages/0/content, made

written in the template   special token   input, unchanged   number, punctuation   control token
! control token that the input wrote   what the model writes

warning: unread
warning: the prompt has the token <s> twice in a row
warning: message 1 (user) has the control token <|end|> at /messages/0/content
"
    );
    assert!(shown.contains("\x1b[38;5;28m/messages/0/role\x1b[0m"), "{shown:?}");
}

/// Returns a text without escape sequences for styles.
fn remove_styles(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.split_once('m').map_or(part, |(_, text)| text));
    std::iter::once(first).chain(rest).collect()
}

#[test]
fn the_time_of_the_clock_is_told_apart() {
    let template = ChatTemplate::from_source("{{ messages|length }}{{ strftime_now('%d') }}", &[]).unwrap();
    let messages = serde_json::json!([{"role": "user", "content": "Hi"}]);
    let options = ApplyOptions::default().with_trace(true);
    let prompt = template.apply(&messages, &options).unwrap();
    let picture = Picture::new(&prompt, &[], None, None, Vec::new()).unwrap();
    assert!(picture.terminal(By::Origin, false).contains("  the clock  │ "));
    assert!(remove_styles(&picture.terminal(By::Origin, true)).contains("number, punctuation   time of the clock\n"));
    assert!(picture.page("model", By::Origin).contains("class=\"part clock\""));
    let json = serde_json::to_value(prompt.segments()).unwrap();
    assert_eq!((&json[0]["by"], &json[1]["by"]), (&serde_json::Value::Null, &"clock".into()));
}

#[test]
fn a_picture_has_all_characters_and_no_control_character_of_the_input() {
    let content = "a\u{1b}[2J\u{7}\t\u{9b}\u{202e}<b>&\n\r x";
    for by in [By::Origin, By::Message] {
        let shown = with_picture(content, |_, picture| picture.terminal(by, true));
        let escapes = shown.matches('\x1b').count();
        assert_eq!(shown.matches("\x1b[").count(), escapes);
        assert!(!shown.contains("\x1b[2J"));
        assert!(
            !shown.contains(|char: char| char.is_control() && !"\x1b\n".contains(char)),
            "{shown:?}"
        );
        for part in ["a", "␛", "[2J", "␇", "⇥", "\\u{9b}", "\\u{202e}", "<b>&", "⏎", "␍", "x"] {
            assert!(shown.contains(part), "{part}: {shown:?}");
        }
    }
    let page = with_picture(content, |_, picture| picture.page("<title>", By::Origin));
    assert!(!page.contains(|char: char| char.is_control() && !"\t\n".contains(char)));
    assert!(page.contains("&lt;b&gt;&amp;") && !page.contains("<b>") && !page.contains("\u{202e}"));
    assert!(page.contains("&lt;title&gt;"));
}

#[test]
fn a_page_loads_nothing() {
    let page = with_picture("Hi", |_, picture| picture.page("model", By::Origin));
    for address in ["http:", "https:", "//cdn", "src=", "@import", "url("] {
        assert!(!page.contains(address), "{address}");
    }
    assert_eq!(page.matches("href=").count(), 1);
}

#[test]
fn parts_are_cut_at_the_edges_of_blocks_and_tokens() {
    with_picture("x<|end|>y", |prompt, picture| {
        let parts: Vec<_> = picture.parts().collect();
        let text: String = parts.iter().map(|part| part.text).collect();
        assert_eq!(text, prompt.text);
        let shown: Vec<(&str, bool, bool)> = parts
            .iter()
            .rev()
            .take(4)
            .map(|part| (part.text, part.is_assistant, part.token.is_some()))
            .collect();
        assert_eq!(
            shown,
            [
                ("1", false, false),
                ("y", true, false),
                ("<|end|>", true, true),
                ("x", true, false)
            ]
        );
    });
}

#[test]
fn a_picture_of_a_long_role_or_a_long_prompt_is_bounded() {
    let template = ChatTemplate::from_source("{% for m in messages %}{{ m.role }}{{ m.content }}\n{% endfor %}", &[]).unwrap();
    for (role, content, count) in [
        ("r".repeat(70_000), "\u{1}".to_owned(), 300),
        ("user".to_owned(), "\u{a0}\n".repeat(600_000), 1),
    ] {
        let messages = vec![serde_json::json!({"role": role, "content": content}); count];
        let messages: Data<'_> = chat_template::json::to_data(&messages).unwrap();
        let options = ApplyOptions::default().with_trace(true);
        let prompt = template.apply(&messages, &options).unwrap();
        let picture = Picture::new(&prompt, &[], Some(&messages), None, Vec::new()).unwrap();
        let shown = [
            picture.terminal(By::Origin, false),
            picture.terminal(By::Message, true),
            picture.page("model", By::Origin),
        ];
        for shown in shown {
            assert!(shown.contains(REST) && shown.len() < 2 * MAX_BYTES, "{}", shown.len());
        }
    }
}
