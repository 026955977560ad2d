// A small robots.txt parser, and the loop that lets the conformance suite ask it:
//     python3 -m conformance --command "node conformance/examples/naive.mjs" --spec rfc9309
// It knows groups, prefixes and the longest match, but no wildcards and no escapes, so it fails some cases.
import { createInterface } from "node:readline";

function rulesFor(file, token) {
  const groups = new Map(); // user agent -> rules
  let agents = [];
  let readingAgents = false;
  for (const line of file.toString("utf8").split(/\r\n|\r|\n/)) {
    const [, field, value] = /^([^:#]+):([^#]*)/.exec(line)?.map((text) => text.trim()) ?? [];
    if (/^user-agent$/i.test(field)) {
      if (!readingAgents) agents = [];
      readingAgents = true;
      agents.push(value.toLowerCase());
      if (!groups.has(agents.at(-1))) groups.set(agents.at(-1), []);
    } else if (/^(dis)?allow$/i.test(field)) {
      readingAgents = false;
      const rule = { allow: /^allow$/i.test(field), path: value };
      if (value) agents.forEach((agent) => groups.get(agent).push(rule));
    }
  }
  return groups.get(token.toLowerCase()) ?? groups.get("*") ?? [];
}

function allowed(file, token, url) {
  const { pathname, search } = new URL(url);
  const matching = rulesFor(file, token).filter((rule) => (pathname + search).startsWith(rule.path));
  matching.sort((a, b) => b.path.length - a.path.length || b.allow - a.allow);
  return matching[0]?.allow ?? true;
}

function answer({ question, file_base64, tokens, url }) {
  if (question !== "allowed" || tokens.length !== 1) return { unsupported: question };
  return { answer: allowed(Buffer.from(file_base64, "base64"), tokens[0], url) };
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
