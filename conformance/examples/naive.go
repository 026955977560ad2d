// A small robots.txt parser, and the loop that lets the conformance suite ask it:
//
//	go build -o naive conformance/examples/naive.go
//	python3 -m conformance --command ./naive --spec rfc9309
//
// It knows groups, prefixes and the longest match, but no wildcards and no escapes, so it fails some cases.
package main

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/url"
	"os"
	"regexp"
	"strings"
)

type rule struct {
	allow bool
	path  string
}

var lineEnd = regexp.MustCompile(`\r\n|\r|\n`)

func rulesFor(file, token string) []rule {
	groups := map[string][]rule{} // by user agent
	var agents []string
	readingAgents := false
	for _, line := range lineEnd.Split(file, -1) {
		content, _, _ := strings.Cut(line, "#")
		field, value, _ := strings.Cut(content, ":")
		value = strings.TrimSpace(value)
		switch field = strings.ToLower(strings.TrimSpace(field)); field {
		case "user-agent":
			if !readingAgents {
				agents = nil
			}
			readingAgents = true
			agent := strings.ToLower(value)
			agents = append(agents, agent)
			groups[agent] = append([]rule{}, groups[agent]...)
		case "allow", "disallow":
			readingAgents = false
			for _, agent := range agents {
				groups[agent] = append(groups[agent], rule{field == "allow", value})
			}
		}
	}
	if rules, found := groups[strings.ToLower(token)]; found {
		return rules
	}
	return groups["*"]
}

func allowed(file, token, target string) (bool, error) {
	parsed, err := url.Parse(target)
	if err != nil {
		return false, err
	}
	path := parsed.EscapedPath()
	if parsed.RawQuery != "" {
		path += "?" + parsed.RawQuery
	}
	longest := rule{allow: true}
	for _, each := range rulesFor(file, token) {
		longer := len(each.path) > len(longest.path)
		if strings.HasPrefix(path, each.path) && (longer || each.allow && len(each.path) == len(longest.path)) {
			longest = each
		}
	}
	return longest.allow, nil
}

type request struct {
	Question string
	File     []byte `json:"file_base64"`
	Tokens   []string
	URL      string
}

func respond(asked request) map[string]any {
	if asked.Question != "allowed" || len(asked.Tokens) != 1 {
		return map[string]any{"unsupported": asked.Question}
	}
	answer, err := allowed(string(asked.File), asked.Tokens[0], asked.URL)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{"answer": answer}
}

func main() {
	requests := json.NewDecoder(os.Stdin) // reads lines of any length
	responses := json.NewEncoder(os.Stdout)
	for {
		var asked request
		if err := requests.Decode(&asked); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		if err := responses.Encode(respond(asked)); err != nil {
			log.Fatal(err)
		}
	}
}
