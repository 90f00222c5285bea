//! The clock of the host.

use chat_template::{Clock, LocalTime, RenderOptions};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "./clock.js")]
extern "C" {
    fn now() -> String;
}

/// The host's clock in the host's zone.
pub struct HostClock;

impl Clock for HostClock {
    fn now(&self) -> LocalTime {
        // A host can show a year that Python does not have.
        now().parse().unwrap_or_else(|_| RenderOptions::default().clock.now())
    }
}
