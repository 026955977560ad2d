<?php
// A small robots.txt parser, and the loop that lets the conformance suite ask it (PHP 8 or later):
//
//     python3 -m conformance --command "php conformance/examples/naive.php" --spec rfc9309
//
// It knows groups, prefixes and the longest match, but no wildcards and no escapes, so it fails some cases.

declare(strict_types=1);

ini_set('display_errors', 'stderr'); // a warning on the standard output would be read as a response

function rulesFor(string $file, string $token): array
{
    $groups = []; // rules by user agent
    $agents = []; // of the user-agent lines above
    $readingAgents = false;
    foreach (preg_split('/\r\n|\r|\n/', $file) as $line) {
        $parts = explode(':', explode('#', $line)[0], 2);
        if (count($parts) < 2) {
            continue;
        }
        [$field, $value] = [strtolower(trim($parts[0])), trim($parts[1])];
        if ($field === 'user-agent') {
            $agents = $readingAgents ? $agents : [];
            $readingAgents = true;
            $agents[] = strtolower($value);
            $groups[strtolower($value)] ??= [];
        } elseif ($field === 'allow' || $field === 'disallow') {
            $readingAgents = false;
            foreach ($agents as $agent) {
                $groups[$agent][] = [$field === 'allow', $value];
            }
        }
    }
    return $groups[strtolower($token)] ?? $groups['*'] ?? [];
}

function allowed(string $file, string $token, string $url): bool
{
    $path = preg_replace('~^\w+://[^/?#]*|#.*~', '', $url);
    $path = str_starts_with($path, '/') ? $path : "/$path";
    $best = [0, true]; // length, and whether the rule allows
    foreach (rulesFor($file, $token) as [$allows, $prefix]) {
        if ($prefix !== '' && str_starts_with($path, $prefix)) {
            $best = max($best, [strlen($prefix), $allows]);
        }
    }
    return $best[1];
}

while (($line = fgets(STDIN)) !== false) {
    $request = json_decode($line, true);
    if ($request['question'] !== 'allowed' || count($request['tokens']) !== 1) {
        $response = ['unsupported' => $request['question']];
    } else {
        $file = base64_decode($request['file_base64']);
        $response = ['answer' => allowed($file, $request['tokens'][0], $request['url'])];
    }
    echo json_encode($response), "\n"; // on the command line PHP flushes by itself
}
