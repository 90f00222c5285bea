// Starts Chromium, which asks no host of its own.

import { chromium } from "playwright-core";

const OPTIONS = "no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update disable-sync";

export function launch() {
  const args = OPTIONS.split(" ").map((option) => `--${option}`);
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args });
}
