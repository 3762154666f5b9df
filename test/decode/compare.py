"""compare.py PROGRAM [SEEDS]: random results of each head, decoded by PROGRAM (answers.cpp) and by reference.py."""
import subprocess
import sys
import tempfile

import numpy as np

import reference

F = np.float32


def objects(rng, n, kind):
    """n boxes as centre and size: anywhere, all alike, or in groups that overlap much or little."""
    if kind == "alike":
        return np.tile(F([[320, 320, 50, 80]]), (n, 1)) + rng.normal(0, 0.5, (n, 4)).astype(F)
    centres = rng.uniform(0, 640, (n, 2))
    if kind == "groups":
        centres = centres[rng.integers(0, max(1, n // 12), n)] + rng.normal(0, 6, (n, 2))
    return np.concatenate([centres, rng.uniform(10, 90, (n, 2))], axis=1).astype(F)


def scores(rng, shape, kind):
    """Most of them low; or with few values, so that many are equal; or none high."""
    x = rng.uniform(0, 1, shape) ** (1 if kind == "many" else 6)
    if kind == "equal":
        x = np.round(x * 8) / 8
    return (x * 0.2 if kind == "none" else x).astype(F)


def spoilt(rng, x, share):
    x = x.copy()
    x[rng.uniform(0, 1, x.shape) < share] = rng.choice(F([np.nan, np.inf, -np.inf]))
    return x


def case(seed):
    """(head, options, results with whether they are integers)."""
    rng = np.random.default_rng(seed)
    head = ["yolov5", "yolov8", "yolov10", "ssd", "classes", "mask"][seed % 6]
    o = {"score": F(rng.choice([0.1, 0.25, 0.5])), "overlap": F(rng.choice([0.3, 0.45, 0.7, 1])), "most": int(rng.choice([1, 20, 300, 1000])),
         "across": bool(rng.integers(0, 2)), "scores": 0, "width": 0, "height": 0, "priors": np.zeros((0, 4), F)}
    batch, n, c = int(rng.choice([1, 1, 3])), int(rng.choice([40, 300, 2500])), int(rng.choice([1, 3, 20]))
    if batch > 1 or c > 3:
        n = min(n, 300)
    place, kind = rng.choice(["anywhere", "alike", "groups"]), rng.choice(["few", "many", "equal", "none"])
    share = rng.choice([0, 0, 0.01])
    boxes = np.stack([objects(rng, n, place) for _ in range(batch)])
    if head == "yolov5":
        x = np.concatenate([boxes, scores(rng, (batch, n, 1), kind), scores(rng, (batch, n, c), "many" if kind == "none" else kind)], axis=2)
        return head, o, [(spoilt(rng, x, share), False)]
    if head == "yolov8":
        x = spoilt(rng, np.concatenate([boxes, scores(rng, (batch, n, c), kind)], axis=2), share)
        return head, o, [(np.ascontiguousarray(x if rng.integers(0, 2) else x.transpose(0, 2, 1)), False)]
    if head == "yolov10":
        corners = np.concatenate([boxes[..., :2], boxes[..., :2] + boxes[..., 2:] * rng.choice(F([1, 1, 1, -1]), (batch, n, 1))], axis=2)
        if rng.integers(0, 2):
            return head, o, [(spoilt(rng, x, share), False) for x in (corners, scores(rng, (batch, n, c), kind))]
        x = np.concatenate([corners, scores(rng, (batch, n, 1), kind), rng.integers(0, c, (batch, n, 1)).astype(F)], axis=2)
        return head, o, [(spoilt(rng, x, share), False)]
    if head == "ssd":
        n = min(n, 300)
        boxes = boxes[:, :n] / F(640)
        o.update(width=300, height=200, score=F(rng.choice([0.02, 0.3, 0.5])))
        logits = rng.normal(0, 3, (batch, n, c + 1)).astype(F)
        if kind == "equal":
            logits = np.round(logits)
        if rng.integers(0, 2):
            o["priors"] = boxes[0].copy()
            boxes = rng.normal(0, 1, boxes.shape).astype(F)
        else:
            boxes = np.concatenate([boxes[..., :2] - boxes[..., 2:] / 2, boxes[..., :2] + boxes[..., 2:] / 2], axis=2)
        s = reference.softmax(logits) if rng.integers(0, 2) else logits
        return head, o, [(spoilt(rng, boxes, share), False), (spoilt(rng, s, share), False)]
    o["scores"] = int(rng.integers(0, 3))
    if head == "classes":
        x = rng.normal(0, 3, (batch, n)).astype(F)
        if kind == "equal":
            x = np.round(x)
        if rng.integers(0, 2):
            x = reference.softmax(x)
        return head, o, [(spoilt(rng, x, share), False)]
    height, width = rng.integers(1, 60, 2)
    if rng.integers(0, 4) == 0:
        return head, o, [(rng.integers(-1, c + 1, (batch, height, width)).astype(F), True)]
    x = scores(rng, (batch, c, height, width), kind) if rng.integers(0, 2) else rng.normal(0, 2, (batch, c, height, width)).astype(F)
    return head, o, [(spoilt(rng, x, share), False)]


def written(head, o, results):
    text = f"{head} {o['score']:.9g} {o['overlap']:.9g} {o['most']} {int(o['across'])} {o['scores']} {o['width']} {o['height']} {o['priors'].size} {len(results)}\n"
    for x, integers in results:
        text += f"{int(integers)} {x.ndim} {' '.join(map(str, x.shape))}\n"
    return text.encode() + o["priors"].tobytes() + b"".join(np.ascontiguousarray(x).tobytes() for x, _ in results)


def expected(head, o, results):
    (x, integers), *more = results
    with np.errstate(all="ignore"):
        if more:
            return list((reference.ssd if head == "ssd" else reference.yolov10_pairs)(x, more[0][0], o))
        if head == "mask":
            return list(reference.mask(x, integers, o))
        return list(getattr(reference, head)(x, o))


def read(text):
    """What the program printed: for each case its pictures, (rows, dropped)."""
    cases = []
    for line in text.splitlines():
        word, *numbers = line.split()
        if word == "case":
            cases.append([])
        elif word == "picture":
            cases[-1].append(([], int(numbers[0])))
        else:
            cases[-1][-1][0].append((int(word), *map(float, numbers)))
    return cases


def difference(found, wanted):
    """"" if all pictures agree: the same boxes in the same order, numbers to some roundings."""
    if len(found) != len(wanted):
        return f"{len(found)} pictures, not {len(wanted)}"
    for p, ((rows, dropped), (right, bad)) in enumerate(zip(found, wanted)):
        if dropped != bad:
            return f"picture {p}: {dropped} dropped, not {bad}"
        if [r[0] for r in rows] != [int(r[0]) for r in right]:
            return f"picture {p}: {len(rows)} rows, not {len(right)}, or other classes"
        a, b = np.array([r[1:] for r in rows], float), np.array([r[1:] for r in right], float)
        if a.size and not np.allclose(a, b, rtol=2e-5, atol=2e-4 if a.shape[1] > 1 else 1e-6):
            return f"picture {p}: numbers differ by {np.abs(a - b).max():g}"
    return ""


def main(program, seeds=240):
    cases = [case(seed) for seed in range(seeds)]
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(written(*c) for c in cases))
        file.flush()
        found = read(subprocess.run([program, file.name], check=True, capture_output=True, text=True, timeout=100).stdout)
    wrong, rows = 0, {}
    for seed, c in enumerate(cases):
        wanted = expected(*c)
        rows[c[0]] = rows.get(c[0], 0) + sum(len(r) for r, _ in wanted)
        why = difference(found[seed], wanted) if seed < len(found) else "no answer"
        if why:
            wrong += 1
            print(f"seed {seed}, {c[0]} {[x.shape for x, _ in c[2]]}: {why}")
    print(f"{len(cases)} cases, {wrong} wrong; rows: {rows}")
    if any(n < 100 for n in rows.values()):
        print("too little was found to tell")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
