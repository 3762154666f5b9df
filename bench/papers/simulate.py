"""Simulates frames that arrive at a rate, from measured times of stages, links and hosts: see dp."""
import statistics


def told(latencies, rate):
    """frames/s from the first arrival to the last result, and the median of the seconds from arrival to result."""
    last = max(k / rate + latency for k, latency in enumerate(latencies))
    return len(latencies) / last, statistics.median(latencies)


def pipeline(stages, in_flight, rate, frames, messages=None):
    """`stages` are the seconds that each stage, and each link between two, takes for a frame, in order. Each holds one frame
    at a time, and all together at most `in_flight`; further frames wait to enter. Each is also busy for its seconds in
    `messages`, which the frame does not wait for: a link's time includes them."""
    free, left = [0.0] * len(stages), []
    busy = [a + b for a, b in zip(stages, messages or [0] * len(stages))]
    for k in range(frames):
        t = max(k / rate, left[k - in_flight] if k >= in_flight else 0)
        for s, seconds in enumerate(stages):
            begin = max(t, free[s])
            t, free[s] = begin + seconds, begin + busy[s]
        left.append(t)
    return told([t - k / rate for k, t in enumerate(left)], rate)


def greedy(hosts, rate, frames):
    """`hosts` are the seconds that each takes for a whole frame, including the transfer to it, fastest first. Frames go, in
    the order of arrival, to the first free host, or wait for one."""
    free, latencies = [0.0] * len(hosts), []
    for k in range(frames):
        now = max(k / rate, min(free))
        h = next(h for h, t in enumerate(free) if t <= now)
        free[h] = now + hosts[h]
        latencies.append(free[h] - k / rate)
    return told(latencies, rate)
