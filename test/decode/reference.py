"""What dice::decode computes, in NumPy and float32: plain and slow, after the papers and docs, not after dice's code."""
import numpy as np

F = np.float32
DEVIATION = F(0.1), F(0.2)  # of SSD's offsets


def iou(a, b):
    """Of boxes x, y, width, height."""
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    if not (width > 0 and height > 0):
        return F(0)
    return min(width * height / (a[2] * a[3] + b[2] * b[3] - width * height), F(1))


def suppress(candidates, overlap, most, across):
    """Candidates are (class, score, x, y, width, height)."""
    rest, kept = sorted(candidates, key=lambda c: -c[1]), []  # sorted() is stable
    while rest and len(kept) < most:
        first, *rest = rest
        kept.append(first)
        rest = [c for c in rest if (not across and c[0] != first[0]) or not iou(first[2:], c[2:]) > overlap]
    return kept


def checked(candidates):
    """Those whose numbers are all finite and whose sizes are not negative; the number of the others."""
    good = [c for c in candidates if np.all(np.isfinite(c)) and c[4] >= 0 and c[5] >= 0]
    return good, len(candidates) - len(good)


def centred(row, score, index):
    return (index, score, row[0] - row[2] / F(2), row[1] - row[3] / F(2), row[2], row[3])


def yolov5(x, o):
    for picture in x:
        candidates, dropped = [], 0
        for row in picture:
            if not row[4] > o["score"]:
                dropped += not np.isfinite(row[4])
            elif not np.all(np.isfinite(row[4:])):
                dropped += 1
            else:
                scores = row[4] * row[5:]
                if scores.max() > o["score"]:
                    candidates.append(centred(row, scores.max(), int(scores.argmax())))
        good, bad = checked(candidates)
        yield suppress(good, o["overlap"], o["most"], o["across"]), dropped + bad


def yolov8(x, o):
    rows = x if x.shape[2] < x.shape[1] else x.transpose(0, 2, 1)
    for picture in rows:
        finite = np.isfinite(picture[:, 4:]).all(axis=1)
        candidates = [centred(row, row[4:].max(), int(row[4:].argmax())) for row in picture[finite] if row[4:].max() > o["score"]]
        good, bad = checked(candidates)
        yield suppress(good, o["overlap"], o["most"], o["across"]), int((~finite).sum()) + bad


def yolov10(x, o):
    for picture in x:
        candidates, dropped = [], 0
        for x1, y1, x2, y2, score, index in picture:
            if not np.isfinite(score):
                dropped += 1
            elif score > o["score"]:
                candidates.append((index, score, x1, y1, x2 - x1, y2 - y1))
        good, bad = checked(candidates)
        yield sorted(good, key=lambda c: -c[1])[: o["most"]], dropped + bad


def yolov10_pairs(boxes, scores, o):
    """Corners and scores: the best of all pairs of a box and a class."""
    for b, s in zip(boxes, scores):
        finite = np.isfinite(s).all(axis=1)
        pairs = [(c, s[n, c], b[n, 0], b[n, 1], b[n, 2] - b[n, 0], b[n, 3] - b[n, 1]) for n, c in zip(*np.nonzero(s > o["score"])) if finite[n]]
        good, bad = checked(pairs)
        yield sorted(good, key=lambda c: -c[1])[: o["most"]], int((~finite).sum()) + bad


def softmax(rows):
    e = np.exp((rows - rows.max(axis=-1, keepdims=True)).astype(np.float64))
    return (e / e.sum(axis=-1, keepdims=True)).astype(F)


def ssd(boxes, scores, o):
    finite_scores = scores[np.isfinite(scores)]
    logits = o["scores"] == 2 or (o["scores"] == 0 and bool(((finite_scores < 0) | (finite_scores > 1.001)).any()))
    width, height = F(o["width"]), F(o["height"])
    for b, s in zip(boxes, scores):
        finite = np.isfinite(s).all(axis=1)
        candidates = []
        for n in np.nonzero(finite)[0]:
            p = softmax(s[n]) if logits else s[n]
            if o["priors"].size:
                prior = o["priors"][n]
                w, h = prior[2:] * np.exp(DEVIATION[1] * b[n, 2:])
                cx, cy = prior[:2] + DEVIATION[0] * b[n, :2] * prior[2:]
                corner = ((cx - w / F(2)) * width, (cy - h / F(2)) * height, w * width, h * height)
            else:
                corner = (b[n, 0] * width, b[n, 1] * height, (b[n, 2] - b[n, 0]) * width, (b[n, 3] - b[n, 1]) * height)
            candidates += [(c - 1, p[c], *corner) for c in range(1, len(p)) if p[c] > o["score"]]
        good, bad = checked(candidates)
        yield suppress(good, o["overlap"], o["most"], o["across"]), int((~finite).sum()) + bad


def classes(x, o):
    for row in x.reshape(x.shape[0], -1):
        finite = np.nonzero(np.isfinite(row))[0]
        numbers = row[finite]
        probable = numbers.size and numbers.min() >= 0 and numbers.max() <= 1.001 and abs(numbers.astype(np.float64).sum() - 1) <= 0.01
        if numbers.size and (o["scores"] == 2 or (o["scores"] == 0 and not probable)):
            order = np.argsort(-numbers, kind="stable")[: o["most"]]
            numbers = softmax(numbers)
        else:
            order = np.argsort(-numbers, kind="stable")[: o["most"]]
        yield [(int(finite[i]), numbers[i]) for i in order], row.size - finite.size


def mask(x, integers, o):
    for picture in x:
        planes = picture.reshape(-1, picture.shape[-2] * picture.shape[-1])
        finite, count = np.isfinite(planes).all(axis=0), max(2, planes.shape[0])
        if integers:
            index = np.where(finite & (planes[0] >= 0) & (planes[0] < 65536), planes[0], -1).astype(int)
            count = index.max() + 1
        elif planes.shape[0] > 1:
            index = np.where(finite, planes.argmax(axis=0), -1)
        else:
            everything = x[np.isfinite(x)]
            least = float(o["score"])
            if o["scores"] == 2 or (o["scores"] == 0 and everything.size and (everything.min() < 0 or everything.max() > 1.001)):
                least = np.log(least / (1 - least))
            index = np.where(finite, (planes[0] > F(least)).astype(int), -1)
        ends = np.nonzero(np.append(index[1:] != index[:-1], True))[0]
        lengths = np.diff(np.append(-1, ends))
        runs = [(int(index[e]), int(n)) for e, n in zip(ends, lengths)]
        yield runs + [(c, int((index == c).sum())) for c in range(count)], int((index == -1).sum())
