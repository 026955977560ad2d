// Asks robots-parser of npm, which is looked for in the folders node_modules above this file.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(import.meta.url);
const robotsParser = require("robots-parser");

function answer({ question, file_base64, tokens, url }) {
  const location = new URL("/robots.txt", url ?? "http://example.com/").href;
  // Decoded as the text() of a fetched response is.
  const robots = robotsParser(location, new TextDecoder().decode(Buffer.from(file_base64, "base64")));
  if (question === "sitemaps") return { answer: robots.getSitemaps() };
  if (tokens.length !== 1) return { unsupported: `${tokens.length} tokens at once` };
  if (question === "crawl_delay") return { answer: robots.getCrawlDelay(tokens[0]) ?? null };
  if (question !== "allowed") return { unsupported: question };
  const allowed = robots.isAllowed(url, tokens[0]);
  return allowed === undefined ? { error: "isAllowed() is undefined" } : { answer: allowed };
}

if (process.argv[2] === "--version") {
  console.log(require("robots-parser/package.json").version);
  process.exit();
}
for await (const line of createInterface({ input: process.stdin })) {
  let response;
  try {
    response = answer(JSON.parse(line));
  } catch (error) {
    response = { error: String(error) };
  }
  console.log(JSON.stringify(response));
}
