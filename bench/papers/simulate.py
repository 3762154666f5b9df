"""Frames that arrive at a rate, as they would fare by what was measured of stages, links and hosts: see dp."""
import statistics


def told(latencies, rate):
    """frames/s from the first arrival to the last result, and the median of the s from arrival to result."""
    last = max(k / rate + latency for k, latency in enumerate(latencies))
    return len(latencies) / last, statistics.median(latencies)


def pipeline(stages, in_flight, rate, frames, messages=None):
    """`stages` are the s that each stage and each link between two takes for a frame, in their order; each has one frame at a time, and
    all have at most `in_flight`, beyond which frames wait to enter. For the s of `messages` each is busy besides, which the frame does
    not wait for: what a link takes has that in it."""
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
    """`hosts` are the s that each takes for a whole frame, the transfer to it included, the fastest first. A frame goes to the
    first one that is free, in the order of arrival, or waits for one."""
    free, latencies = [0.0] * len(hosts), []
    for k in range(frames):
        now = max(k / rate, min(free))
        h = next(h for h, t in enumerate(free) if t <= now)
        free[h] = now + hosts[h]
        latencies.append(free[h] - k / rate)
    return told(latencies, rate)
