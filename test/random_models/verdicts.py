"""What dice and the oracles make of a model, and how the two compare."""
import json
import os
import re
import subprocess

import numpy as np

import oracle

KINDS = {'agree': 'dice has the results of an oracle',
         'refused': 'dice refuses what an oracle computes',
         'both refuse': 'dice and all oracles refuse it',
         'no oracle': 'no oracle has the operator, or is right about it',
         'unstable': "the oracle's own results change as much if the inputs change by a millionth",
         'accepted': 'dice accepts what all oracles refuse',
         'uneven': 'dice accepts it only with, or only without --no-fold',
         'differ': 'dice has other results than the oracles',
         'crash': 'onnx2hpp crashes, hangs or reports a mistake of its own'}
BUGS = ('accepted', 'uneven', 'differ', 'crash')
SHOWN_TYPES = {'int64', 'int32', 'uint8', 'bool'}  # in which outputs leave dice; others are float32


class Tool:
    """random_models_answers, which answers one model after the other."""

    def __init__(self, program, folder):
        self.path = os.path.join(folder, f'model{os.getpid()}')
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, model, feeds):
        """{'folded': …, 'plain': …}, each with problems or results; or how the tool ended, as text."""
        names = sorted(feeds)
        with open(self.path + '.onnx', 'wb') as f:
            f.write(model.SerializeToString())
        with open(self.path + '.json', 'w') as f:
            json.dump({n: int(feeds[n].size) for n in names}, f)
        with open(self.path + '.in', 'wb') as f:
            for n in names:
                f.write(feeds[n].astype('<f4').tobytes())
        self.process.stdin.write(self.path + '\n')
        self.process.stdin.flush()
        end = self.process.stdout.readline().strip()
        if end != 'done':
            return end or 'random_models_answers ended'
        with open(self.path + '.out') as f:
            out = json.load(f)
        numbers = np.fromfile(self.path + '.numbers', '<f4')
        for form in ('folded', 'plain'):
            for r in out[form].get('results', []):
                r['values'], numbers = numbers[:r['elements']].reshape(r['shape']), numbers[r['elements']:]
        return out

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def without_numbers(text):
    return re.sub(r'"[^"]*"', '"…"', re.sub(r'-?\d+(\.\d+)?(e[-+]?\d+)?', '#', text))[:160]


def difference(results, values):
    """'' if dice's results are those of an oracle, else how they differ."""
    for r, expected in zip(results, values):
        expected = np.asarray(expected)
        kind = expected.dtype.name if expected.dtype.name in SHOWN_TYPES else 'float32'
        if r['type'] != kind:
            return f'type {r["type"]}, expected {kind}'
        if d := oracle.differs(r['values'], expected, looser=40 if expected.dtype == np.float16 else 1):
            return d
    return ''


def unstable(model, feeds, by, values):
    """Whether the oracle `by` has other values for nearly the same inputs."""
    for sign in (1, -1):
        nearly = {k: (v * (1 + sign * 1e-6) + sign * 1e-6).astype(v.dtype) if v.dtype.kind == 'f' else v for k, v in feeds.items()}
        for a in oracle.answers(model, nearly):
            if a.by == by and a.values is not None:
                if any(oracle.differs(np.asarray(n), np.asarray(v), looser=0.2) for n, v in zip(a.values, values)):
                    return True
    return False


def judge(tool, model, feeds):
    """(kind, detail) of a model."""
    said = tool.ask(model, feeds)
    if isinstance(said, str):
        return 'crash', said
    for form, s in said.items():
        if 'thrown' in s:
            return 'crash', f'{form}: {s["thrown"]}'
    answers = oracle.answers(model, feeds)
    computed = [a for a in answers if a.values is not None]
    problems = {form: s['problems'] for form, s in said.items()}
    if bool(problems['folded']) != bool(problems['plain']):
        form = 'folded' if problems['folded'] else 'plain'
        return 'uneven', f'{form}: {problems[form][0]["operator"]}: {problems[form][0]["reason"]}'
    if problems['folded']:
        p = problems['folded'][0]
        return 'refused' if computed else 'both refuse', f'{p["operator"] or p["node"]}: {p["reason"]}'
    if not computed:
        refusing = [a for a in answers if not a.lacks]
        return ('accepted', refusing[0].refusal[:300]) if refusing else ('no oracle', answers[0].refusal[:200] if answers else '')
    details = {}
    for a in computed:
        details[a.by] = next((f'{form}: {d}' for form, s in said.items() if (d := difference(s['results'], a.values))), '')
    wrong = {by: d for by, d in details.items() if d}
    if not wrong:
        return 'agree', ''
    text = '; '.join(f'{by}: {d}' for by, d in wrong.items())
    if len(wrong) < len(details):
        return 'agree', 'not with ' + text
    if all(unstable(model, feeds, a.by, a.values) for a in computed):
        return 'unstable', text
    return 'differ', text
