# Measures the TCP connection between two hosts; both run this script, by: perl -e SCRIPT ARGUMENT…
#   serve TOKEN                  prints "port N", waits for the other, prints "to_server MBIT_PER_S"
#   connect TOKEN PORT ADDRESS…  takes the first address that answers; prints "between OWN OTHER", the addresses, "us N",
#                                "to_client MBIT_PER_S"
# or "failed REASON". us is half the median round trip of 64 bytes; speeds are those of the payload, after half a second in which
# TCP finds out what the connection can do. Needs only Debian's perl-base, which has no Time::HiRes.
use strict;
use warnings;
use Errno qw(EINPROGRESS ETIMEDOUT);
use Fcntl;
use POSIX ();
use Socket qw(:DEFAULT IPPROTO_TCP TCP_NODELAY);

my ($role, $token, $port, @addresses) = @ARGV;
my $measured = $ENV{DICE_RUN_SECONDS} || 1;  # s; less in tests
my ($settle, $patience) = ($measured / 2, 10);
$| = 1;
$SIG{PIPE} = 'IGNORE';  # who measures a stream ends it by closing the socket
$SIG{ALRM} = sub { fail("the other host is silent for $patience s") };

sub fail { print "failed $_[0]\n"; exit 1 }

# Seconds of the monotonic clock. The number of the system call is the machine's.
sub now {
  my $machine = (POSIX::uname())[4];
  my $number = $machine eq 'x86_64' ? 228 : $machine =~ /^i.86$/ ? 265 : $machine =~ /^arm/ ? 263 : 113;
  my $time = pack('l!l!', 0, 0);
  fail("no clock_gettime on $machine: $!") if syscall($number, 1, $time) != 0;
  my ($seconds, $nanoseconds) = unpack('l!l!', $time);
  return $seconds + $nanoseconds * 1e-9;
}

sub ready_within {
  my ($socket, $seconds, $to_write) = @_;
  my $bits = '';
  vec($bits, fileno $socket, 1) = 1;
  return ($to_write ? select(undef, $bits, undef, $seconds) : select($bits, undef, undef, $seconds)) > 0;
}

sub read_all {
  my ($socket, $bytes) = @_;
  my $got = '';
  while (length $got < $bytes) { return undef unless sysread($socket, $got, $bytes - length $got, length $got) }
  return $got;
}

sub send_stream {
  my ($socket) = @_;
  my $block = "\0" x 65536;
  1 while defined syswrite($socket, $block);
}

sub measure_stream {
  my ($socket) = @_;
  my ($begin, $first, $last, $bytes, $block) = (0, 0, 0, 0, '');
  while (my $n = sysread($socket, $block, 262144)) {
    my $t = now();
    $begin ||= $t;
    next if $t - $begin < $settle;
    if ($first) { $bytes += $n; $last = $t } else { $first = $t }
    last if $t - $first >= $measured;
  }
  fail('the stream broke off') if $last - $first < $measured;
  return sprintf '%.6g', $bytes * 8e-6 / ($last - $first);
}

sub serve {
  socket(my $listener, PF_INET, SOCK_STREAM, IPPROTO_TCP) or fail("no socket: $!");
  bind($listener, sockaddr_in(0, INADDR_ANY)) && listen($listener, 4) or fail("no TCP port: $!");
  print 'port ', (sockaddr_in(getsockname $listener))[0], "\n";
  while (1) {
    fail('no connection arrives') unless ready_within($listener, $patience);
    accept(my $peer, $listener) or next;
    setsockopt($peer, IPPROTO_TCP, TCP_NODELAY, 1);
    next unless ready_within($peer, 2);
    alarm $patience;
    my $said = read_all($peer, length($token) + 1);
    next unless defined $said && substr($said, 1) eq $token;  # a stranger
    my $what = substr $said, 0, 1;
    if ($what eq 'p') { while (defined(my $ping = read_all($peer, 64))) { syswrite($peer, $ping) } }
    if ($what eq 's') { print 'to_server ', measure_stream($peer), "\n" }
    if ($what eq 'r') { send_stream($peer); return }  # the last of the three
    alarm 0;
  }
}

# A socket that is connected to the server, which does `what`.
sub connect_for {
  my ($what) = @_;
  my ($why, $tried) = ('', 0);
  while (@addresses) {
    my $address = inet_aton($addresses[0]);
    $tried ||= defined $address;
    socket(my $socket, PF_INET, SOCK_STREAM, IPPROTO_TCP) or fail("no socket: $!");
    setsockopt($socket, IPPROTO_TCP, TCP_NODELAY, 1);
    fcntl($socket, F_SETFL, O_NONBLOCK);
    my $done = defined $address && connect($socket, sockaddr_in($port, $address));
    if (defined $address && !$done && $! == EINPROGRESS) {
      $! = ready_within($socket, 3, 1) ? unpack('i', getsockopt($socket, SOL_SOCKET, SO_ERROR)) : ETIMEDOUT;
      $done = !$!;
    }
    if ($done) {
      fcntl($socket, F_SETFL, 0);
      syswrite($socket, $what . $token);
      return $socket;
    }
    $why .= ($why ? ', ' : '') . "$addresses[0]: " . (defined $address ? "$!" : 'unknown name');
    shift @addresses;
  }
  fail(($tried ? 'no TCP connection' : 'no address') . " ($why)");
}

sub client {
  my $pings = connect_for('p');
  print join(' ', 'between', map { inet_ntoa((sockaddr_in($_))[1]) } getsockname $pings, getpeername $pings), "\n";
  my ($end, @rounds) = (now() + 1);
  alarm $patience;
  while (@rounds < 10 || (@rounds < 300 && now() < $end)) {
    my $begin = now();
    syswrite($pings, 'x' x 64);
    fail('the connection broke off') unless defined read_all($pings, 64);
    push @rounds, now() - $begin;
  }
  close $pings;
  splice @rounds, 0, 3;  # these fill caches and tables of neighbours
  @rounds = sort { $a <=> $b } @rounds;
  printf "us %.4g\n", $rounds[@rounds / 2] / 2 * 1e6;
  alarm $patience;
  send_stream(connect_for('s'));
  alarm $patience;
  print 'to_client ', measure_stream(connect_for('r')), "\n";
}

$role eq 'serve' ? serve() : client();
