#!/usr/bin/env node
// Runs `chat-template conformance` with the arguments of this command.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const binary = fileURLToPath(new URL("bin/chat-template", import.meta.url));
const { status, error } = spawnSync(binary, ["conformance", ...process.argv.slice(2)], { stdio: "inherit" });
if (error) console.error(String(error));
process.exit(status ?? 2);
