// Asks grobotstxt, a port of Google's matcher to Go. Put this file into a clone of it and build it there:
//
//	git clone https://github.com/jimsmart/grobotstxt
//	mkdir grobotstxt/cmd/conformance
//	cp conformance/peers/grobotstxt.go grobotstxt/cmd/conformance/main.go
//	cd grobotstxt
//	go build -ldflags "-X main.version=$(git describe --tags --always)" ./cmd/conformance
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/jimsmart/grobotstxt"
)

var version = "unknown" // set when it is built

type request struct {
	Question   string
	FileBase64 string `json:"file_base64"`
	Tokens     []string
	URL        string
}

type response map[string]interface{}

func answer(asked request) (given response) {
	defer func() { // some files make the parser panic
		if reason := recover(); reason != nil {
			given = response{"error": fmt.Sprint(reason)}
		}
	}()
	file, err := base64.StdEncoding.DecodeString(asked.FileBase64)
	if err != nil {
		return response{"error": err.Error()}
	}
	switch asked.Question {
	case "allowed":
		return response{"answer": grobotstxt.AgentsAllowed(string(file), asked.Tokens, asked.URL)}
	case "sitemaps":
		return response{"answer": append([]string{}, grobotstxt.Sitemaps(string(file))...)}
	}
	return response{"unsupported": asked.Question}
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println(version)
		return
	}
	requests, responses := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var asked request
		if err := requests.Decode(&asked); err == io.EOF {
			return
		} else if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		responses.Encode(answer(asked)) // os.Stdout has no buffer
	}
}
