# Gets the pages with LWP::RobotUA, which has no links to follow.
use strict;
use warnings;

use LWP::RobotUA;

my $agent = LWP::RobotUA->new(agent => 'examplebot/1.0', from => 'owner@example.com');
$agent->delay(0);
$agent->get($_) for @ARGV;
