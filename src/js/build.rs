//! Links the mathematics of the C library for WebAssembly, whose powers are those of glibc, which the reference uses. Those of Rust for this
//! target differ in the last digit.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").as_deref() != Ok("wasm") {
        return;
    }
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let sysroot = Command::new(rustc).args(["--print", "sysroot"]).output().unwrap().stdout;
    let folder = PathBuf::from(String::from_utf8(sysroot).unwrap().trim()).join("lib/rustlib/wasm32-wasip1/lib/self-contained");
    assert!(
        folder.join("libc.a").exists(),
        "run `rustup target add wasm32-wasip1`, which has the library"
    );
    println!("cargo::rustc-link-search=native={}", folder.display());
    println!("cargo::rustc-link-lib=static:-bundle=c");
}
