//! Writes the file from which shields.io draws a badge.
//!
//! ```text
//! {"schemaVersion": 1, "label": "chat templates, suite 5.1.0", "message": "99.2 %", "color": "green"}
//! ```

use super::report::Report;

/// Returns the share of right cases as the file of a badge: <https://shields.io/badges/endpoint-badge>.
pub fn badge(report: &Report) -> String {
    let total = report.total();
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
        "message": total.percent(),
        "color": color,
    });
    format!("{badge}\n")
}
