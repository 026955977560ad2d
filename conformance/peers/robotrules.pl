# Asks WWW::RobotRules of CPAN, the parser behind LWP::RobotUA.
use strict;
use warnings;

use JSON::PP;
use MIME::Base64;
use WWW::RobotRules;

if (@ARGV && $ARGV[0] eq '--version') {
    print "$WWW::RobotRules::VERSION\n";
    exit;
}

sub answer {
    my ($request) = @_;
    my @tokens = @{$request->{tokens}};
    return {unsupported => $request->{question}} if $request->{question} ne 'allowed';
    return {unsupported => @tokens . ' tokens at once'} if @tokens != 1;
    my ($site) = $request->{url} =~ m{^(\w+://[^/?#]*)};
    my $rules = WWW::RobotRules->new($tokens[0]);
    $rules->parse("$site/robots.txt", decode_base64($request->{file_base64}));
    my $allowed = $rules->allowed($request->{url});
    return {error => 'no rules are known for this host'} if $allowed < 0;
    return {answer => $allowed ? JSON::PP::true : JSON::PP::false};
}

$| = 1;    # flush each line
my $json = JSON::PP->new->ascii;
while (my $line = <STDIN>) {
    my $response = eval { answer($json->decode($line)) } || {error => "$@"};
    print $json->encode($response), "\n";
}
