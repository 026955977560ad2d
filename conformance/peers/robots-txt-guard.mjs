// Asks robots-txt-guard of npm, which is looked for in the folders node_modules above this file; its
// README reads files with robots-txt-parse.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

const require = createRequire(import.meta.url);
const guard = require("robots-txt-guard");
const parse = require("robots-txt-parse");

async function answer({ question, file_base64, tokens, url }) {
  if (!["allowed", "sitemaps"].includes(question)) return { unsupported: question };
  const parsed = await parse(Readable.from([Buffer.from(file_base64, "base64")]));
  if (question === "sitemaps") return { answer: parsed.extensions.filter(each => each.extension === "sitemap").map(each => each.value) };
  if (tokens.length !== 1) return { unsupported: `${tokens.length} tokens at once` };
  const { pathname, search } = new URL(url, "http://example.com/");
  return { answer: guard(parsed).isAllowed(tokens[0], pathname + search) };
}

if (process.argv[2] === "--version") {
  console.log(require("robots-txt-guard/package.json").version);
  process.exit();
}
for await (const line of createInterface({ input: process.stdin })) {
  let response;
  try {
    response = await answer(JSON.parse(line));
  } catch (error) {
    response = { error: String(error) };
  }
  console.log(JSON.stringify(response));
}
