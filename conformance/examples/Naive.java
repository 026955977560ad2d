// A small robots.txt parser, and the loop that lets the conformance suite ask it (Java 17 or later):
//
//     python3 -m conformance --command "java conformance/examples/Naive.java" --spec rfc9309
//
// It knows groups, prefixes and the longest match, but no wildcards and no escapes, so it fails some cases.
// It needs no library. In a project use Jackson or Gson instead of the method at the end.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

public class Naive {
    record Rule(boolean allow, String path) {}

    static List<Rule> rulesFor(String file, String token) {
        Map<String, List<Rule>> groups = new HashMap<>(); // by user agent
        List<List<Rule>> open = new ArrayList<>(); // of the user-agent lines above
        boolean readingAgents = false;
        for (String line : file.split("\r\n|\r|\n")) {
            String[] parts = line.split("#", 2)[0].split(":", 2);
            if (parts.length < 2) continue;
            String field = parts[0].strip().toLowerCase(Locale.ROOT);
            String value = parts[1].strip();
            if (field.equals("user-agent")) {
                if (!readingAgents) open.clear();
                readingAgents = true;
                open.add(groups.computeIfAbsent(value.toLowerCase(Locale.ROOT), agent -> new ArrayList<>()));
            } else if (field.equals("allow") || field.equals("disallow")) {
                readingAgents = false;
                open.forEach(rules -> rules.add(new Rule(field.equals("allow"), value)));
            }
        }
        return groups.getOrDefault(token.toLowerCase(Locale.ROOT), groups.getOrDefault("*", List.of()));
    }

    static boolean allowed(String file, String token, String url) {
        String path = url.replaceFirst("#.*", "").replaceFirst("^\\w+://[^/?]*", "");
        String target = path.startsWith("/") ? path : "/" + path;
        return rulesFor(file, token).stream()
                .filter(rule -> !rule.path.isEmpty() && target.startsWith(rule.path))
                .max(Comparator.comparing((Rule rule) -> rule.path.length()).thenComparing(Rule::allow))
                .map(Rule::allow)
                .orElse(true);
    }

    static String respond(String request) {
        String question = string(request, "\"question\": ");
        String tokens = request.split(Pattern.quote("\"tokens\": ["), 2)[1].split("]", 2)[0];
        if (!question.equals("allowed") || tokens.isEmpty() || tokens.contains("\", \"")) {
            return "{\"unsupported\": \"" + question + "\"}";
        }
        String token = string(request, "\"tokens\": [");
        byte[] file = Base64.getDecoder().decode(string(request, "\"file_base64\": "));
        String url = string(request, "\"url\": ");
        return "{\"answer\": " + allowed(new String(file, StandardCharsets.UTF_8), token, url) + "}";
    }

    public static void main(String[] arguments) throws IOException {
        var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        var responses = new PrintStream(System.out, true, StandardCharsets.US_ASCII); // flushes each line
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            responses.println(respond(line));
        }
    }

    /** The JSON string behind a key. A key is unique: inside a string its quotes are escaped. */
    static String string(String request, String key) {
        StringBuilder text = new StringBuilder();
        int at = request.indexOf(key + '"') + key.length() + 1;
        for (char next = request.charAt(at); next != '"'; next = request.charAt(++at)) {
            if (next == '\\') {
                next = request.charAt(++at);
                int plain = "btnfr".indexOf(next);
                if (plain >= 0) {
                    next = "\b\t\n\f\r".charAt(plain);
                } else if (next == 'u') {
                    next = (char) Integer.parseInt(request.substring(at + 1, at + 5), 16);
                    at += 4;
                }
            }
            text.append(next);
        }
        return text.toString();
    }
}
