//! Writes the file from which shields.io draws a badge.
//!
//! ```text
//! {"schemaVersion": 1, "label": "chat templates, suite 6.1.0", "message": "everyday 99.2 %, 12 unsupported", "color": "green"}
//! ```

use super::report::Report;

/// Returns the share of right everyday cases, and the number of unsupported ones of all, as the file of a badge:
/// <https://shields.io/badges/endpoint-badge>.
pub fn badge(report: &Report) -> String {
    let (name, total) = report.headline();
    let mut message = format!("{name} {}", total.percent());
    let unsupported = report.total().unsupported;
    if unsupported > 0 {
        message.push_str(&format!(", {unsupported} unsupported"));
    }
    let color = match total.right.saturating_mul(100).checked_div(total.asked) {
        None => "lightgrey",
        Some(_) if total.right == total.asked => "brightgreen",
        Some(95..) => "green",
        Some(85..) => "yellowgreen",
        Some(60..) => "orange",
        Some(_) => "red",
    };
    let badge = serde_json::json!({
        "schemaVersion": 1,
        "label": format!("chat templates, suite {}", report.suite),
        "message": message,
        "color": color,
    });
    format!("{badge}\n")
}
