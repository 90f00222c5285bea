// Uses each part of the package, so that the compiler checks its types.

import { ChatTemplate, PrefixError, ResponseTemplate, TemplateError, type Prompt } from "../../src/js/lib/index.js";

const template = ChatTemplate.fromSource("…", { bos_token: "<s>" }, { limits: { steps: 1000 } });
const messages = [{ role: "user", content: "Hi" }];
const text: string = template.apply(messages, { tools: [], variables: { enable_thinking: true }, add_generation_prompt: true, now: new Date() });
const prompt: Prompt = template.render(messages, { trace: true, assistant: { roles: ["assistant"], reasoning: false } });
const parts: string[] = prompt.segments.map(({ start, end }) => prompt.text.slice(start, end));
const { piece, changes } = template.prepare({ messages }, { format: "chat_completions" }).after(text, null);
const calls = new ResponseTemplate({}).stream().feed("").map((event) => (event.type === "call" ? event.name : event.bytes.start));
const lost: string | undefined = template.grammar({ tool_choice: "required", format: "lark" })?.lost[0]?.[1];
const line: number | null = new TypeError() instanceof TemplateError ? 1 : null;
export { calls, changes, line, lost, parts, piece, PrefixError };
// @ts-expect-error an option that does not exist
template.apply(messages, { add_generation: true });
