//! The frame of each HTML page. A page loads nothing, and its colours follow the browser's light or dark mode.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style sheet of every page.
const STYLE: &str = include_str!("page.css");

/// The resources that a page may load.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// Returns a page with a title, a style sheet besides the one of every page, and a body.
pub fn page(title: &str, style: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(style)) }
            }
            body { (body) }
        }
    };
    page.into_string()
}
