// Writes a small GGUF file as a string. Each of its bytes is an ASCII character.

const integer = (value, width) => String.fromCharCode(value).padEnd(width, "\0");
const string = (text) => integer(text.length, 8) + text;

/** Returns a file with these strings, each of at most 127 characters, in its metadata. */
export function writeGguf(strings) {
  const entries = Object.entries(strings).map(([key, value]) => string(key) + integer(8, 4) + string(value));
  return `GGUF${integer(3, 4)}${integer(0, 8)}${integer(entries.length, 8)}${entries.join("")}`;
}
