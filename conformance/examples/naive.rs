// A small robots.txt parser, and the loop that lets the conformance suite ask it:
//
//     rustc -O -o naive conformance/examples/naive.rs
//     python3 -m conformance --command ./naive --spec rfc9309
//
// It knows groups, prefixes and the longest match, but no wildcards and no escapes, so it fails some cases.
// It compiles without crates. In a project use serde_json and base64 instead of the functions at the end.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

#[derive(Clone)]
struct Rule {
    allow: bool,
    path: String,
}

fn rules_for(file: &str, token: &str) -> Vec<Rule> {
    let mut groups: HashMap<String, Vec<Rule>> = HashMap::new(); // by user agent
    let mut agents: Vec<String> = Vec::new();
    let mut reading_agents = false;
    for line in file.split(['\r', '\n']) {
        let content = line.split('#').next().unwrap_or("");
        let Some((field, value)) = content.split_once(':') else {
            continue;
        };
        let (field, value) = (field.trim().to_ascii_lowercase(), value.trim());
        if field == "user-agent" {
            if !reading_agents {
                agents.clear();
            }
            reading_agents = true;
            agents.push(value.to_ascii_lowercase());
            groups.entry(value.to_ascii_lowercase()).or_default();
        } else if field == "allow" || field == "disallow" {
            reading_agents = false;
            for agent in &agents {
                let rule = Rule {
                    allow: field == "allow",
                    path: value.to_string(),
                };
                groups.entry(agent.clone()).or_default().push(rule);
            }
        }
    }
    let found = groups
        .get(&token.to_ascii_lowercase())
        .or_else(|| groups.get("*"));
    found.cloned().unwrap_or_default()
}

fn allowed(file: &str, token: &str, url: &str) -> bool {
    let without_fragment = url.split('#').next().unwrap_or("");
    let after_scheme = without_fragment
        .split_once("://")
        .map_or("", |(_, rest)| rest);
    let path = after_scheme
        .find(['/', '?'])
        .map_or("/", |start| &after_scheme[start..]);
    let rules = rules_for(file, token);
    let matching = rules
        .iter()
        .filter(|rule| !rule.path.is_empty() && path.starts_with(&rule.path));
    matching
        .max_by_key(|rule| (rule.path.len(), rule.allow))
        .map_or(true, |rule| rule.allow)
}

fn respond(request: &str) -> Option<String> {
    let question = string(request, "\"question\": ")?;
    let tokens = request.split_once("\"tokens\": [")?.1.split_once(']')?.0;
    if question != "allowed" || tokens.is_empty() || tokens.contains("\", \"") {
        return Some(format!("{{\"unsupported\": \"{question}\"}}"));
    }
    let token = string(request, "\"tokens\": [")?;
    let file = decode_base64(&string(request, "\"file_base64\": ")?);
    let url = string(request, "\"url\": ")?;
    let answer = allowed(&String::from_utf8_lossy(&file), &token, &url);
    Some(format!("{{\"answer\": {answer}}}"))
}

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let response =
            respond(&line?).unwrap_or_else(|| "{\"error\": \"not a request\"}".to_string());
        println!("{response}");
        io::stdout().flush()?;
    }
    Ok(())
}

/// The JSON string behind a key. A key is unique: inside a string its quotes are escaped.
fn string(request: &str, key: &str) -> Option<String> {
    let mut chars = request.split_once(key)?.1.strip_prefix('"')?.chars();
    let mut units: Vec<u16> = Vec::new(); // UTF-16, as in the escapes of JSON
    loop {
        match chars.next()? {
            '"' => return Some(String::from_utf16_lossy(&units)),
            '\\' => units.push(match chars.next()? {
                'u' => u16::from_str_radix(&chars.by_ref().take(4).collect::<String>(), 16).ok()?,
                'b' => 8,
                't' => 9,
                'n' => 10,
                'f' => 12,
                'r' => 13,
                other => other as u16,
            }),
            other => units.push(other as u16), // a request is ASCII
        }
    }
}

fn decode_base64(text: &str) -> Vec<u8> {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for digit in text.chars().filter_map(|char| ALPHABET.find(char)) {
        bits = bits << 6 | digit as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}
