// Asks com.github.itechbear:robotstxt, a port of Google's matcher to Java (Java 17 or later):
//
//     mvn dependency:copy -Dartifact=com.github.itechbear:robotstxt:0.0.1 -DoutputDirectory=.
//     export ROBOTSTXT_JAR=$PWD/robotstxt-0.0.1.jar
//
// It needs no other library, so the one request is read by hand, as in examples/Naive.java.

import com.github.itechbear.robotstxt.RobotsMatcher;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;

public class RobotsTxtJava {
    static String respond(String request) {
        String question = string(request, "\"question\": ");
        if (!question.equals("allowed")) return "{\"unsupported\": \"" + question + "\"}";
        String tokens = request.split(Pattern.quote("\"tokens\": ["), 2)[1].split("]", 2)[0];
        List<String> agents = // no product token contains a quote or a backslash
                tokens.isEmpty() ? List.of() : List.of(tokens.substring(1, tokens.length() - 1).split("\", \""));
        byte[] file = Base64.getDecoder().decode(string(request, "\"file_base64\": "));
        String text = new String(file, StandardCharsets.UTF_8);
        return "{\"answer\": " + new RobotsMatcher().AllowedByRobots(text, agents, string(request, "\"url\": ")) + "}";
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length == 1 && arguments[0].equals("--version")) {
            System.out.println(System.getProperty("java.class.path").replaceFirst(".*robotstxt-(.*)\\.jar", "$1"));
            return;
        }
        var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        var responses = new PrintStream(System.out, true, StandardCharsets.US_ASCII); // flushes each line
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String response;
            try {
                response = respond(line);
            } catch (RuntimeException error) { // often thrown ones lose their messages
                response = "{\"error\": \"" + error.getClass().getName() + "\"}";
            }
            responses.println(response);
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
