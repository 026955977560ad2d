// Asks urllib.robotparser of a newer CPython, which the npm package pyodide contains.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(import.meta.url);
const { loadPyodide } = require("pyodide");

const python = await loadPyodide();
const answer = python.runPython(`
import base64, json, platform, urllib.robotparser

def answer(line):
    asked = json.loads(line)
    tokens = asked["tokens"]
    if asked["question"] == "sitemaps":
        return {"answer": parsed(asked).site_maps() or []}
    if len(tokens) != 1:
        return {"unsupported": f"{len(tokens)} tokens at once"}
    if asked["question"] == "crawl_delay":
        return {"answer": parsed(asked).crawl_delay(tokens[0])}
    if asked["question"] != "allowed":
        return {"unsupported": asked["question"]}
    return {"answer": parsed(asked).can_fetch(tokens[0], asked["url"])}

def parsed(asked):
    # Decoded and split as RobotFileParser.read does.
    parser = urllib.robotparser.RobotFileParser()
    parser.parse(base64.b64decode(asked["file_base64"]).decode("utf-8", "surrogateescape").splitlines())
    return parser

def respond(line):
    try:
        return json.dumps(answer(line))
    except Exception as error:
        return json.dumps({"error": f"{type(error).__name__}: {error}"})

respond
`);

if (process.argv[2] === "--version") {
  console.log(`of Python ${python.runPython("platform.python_version()")}`);
  process.exit();
}
for await (const line of createInterface({ input: process.stdin })) {
  console.log(answer(line));
}
