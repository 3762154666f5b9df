#!/usr/bin/env python3
"""Random operators and small graphs with odd attributes: what onnx2hpp makes of them, by dice's reference kernels, compared with
ONNX Runtime and ONNX's reference evaluator.

  random_models.py PROGRAM [--seeds A:B]     PROGRAM is random_models_answers of the build folder

Exit code: 0 if there is no bug; 1 if there is; 77 if there is no oracle."""
import argparse
import collections
import json
import os
import re
import sys
import tempfile
import time
import traceback

import oracle

if missing := oracle.why_missing():
    print(f'skipped: {missing}')
    sys.exit(77)

import numpy as np  # noqa: E402
import onnx  # noqa: E402

import keep as keeping  # noqa: E402
import models  # noqa: E402
import shrink  # noqa: E402
import verdicts  # noqa: E402


def short(values):
    return np.array2string(np.asarray(values).ravel(), threshold=60, edgeitems=12, max_line_width=1000)


def text_of(model, feeds):
    lines = [l if len(l) < 240 else l[:237] + '…' for l in onnx.printer.to_text(model).splitlines()]
    for t in model.graph.initializer:
        lines.append(f'  {t.name} = {short(onnx.numpy_helper.to_array(t))}')
    for name, v in feeds.items():
        lines.append(f'  {name} = {short(v)}')
    return '\n'.join(lines)


def outcome_of(tool, seed):
    try:
        case = models.make(seed)
    except models.Unfit as e:
        return {'seed': seed, 'family': '', 'what': '', 'opset': 0, 'kind': 'unfit', 'detail': str(e)}
    kind, detail = verdicts.judge(tool, case.model, case.feeds)
    return {'seed': seed, 'family': case.family, 'what': case.what, 'opset': case.model.opset_import[0].version, 'kind': kind,
            'detail': detail, 'operators': sorted({n.op_type for n in oracle.nodes_within(case.model.graph)})}


def worker(program, folder, seeds, write):
    """Writes a line before each seed and one with its outcome."""
    tool = verdicts.Tool(program, folder)
    with os.fdopen(write, 'w', buffering=1) as out:
        for seed in seeds:
            print(json.dumps({'begun': seed}), file=out)
            try:
                outcome = outcome_of(tool, seed)
            except Exception:
                outcome = {'seed': seed, 'family': '', 'what': '', 'opset': 0, 'kind': 'broken', 'detail': traceback.format_exc()}
            print(json.dumps(outcome), file=out)
    tool.end()


def start(program, folder, seeds):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(read)
            worker(program, folder, seeds, write)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    return child, os.fdopen(read)


def run(program, seeds, jobs, see):
    """Each seed's outcome goes to see(). An oracle that crashes ends only the process that asked it."""
    seeds = list(seeds)
    shares = [seeds[j::jobs] for j in range(jobs)]
    with tempfile.TemporaryDirectory() as folder:
        busy = {}
        for share in shares:
            if share:
                child, lines = start(program, folder, share)
                busy[lines] = (child, share)
        while busy:
            for lines in select_ready(busy):
                child, share = busy[lines]
                line = lines.readline()
                if line:
                    found = json.loads(line)
                    if 'begun' not in found:
                        see(found)
                        share.remove(found['seed'])
                    continue
                os.waitpid(child, 0)
                del busy[lines]
                if share:
                    see({'seed': share[0], 'family': '', 'what': '', 'opset': 0, 'kind': 'oracle crashed', 'detail': ''})
                    del share[0]
                if share:
                    child, lines = start(program, folder, share)
                    busy[lines] = (child, share)


def select_ready(files):
    import select
    return select.select(list(files), [], [])[0]


def never_made(outcomes):
    """Operators of docs/operators.md, in the table of those that are read, that are in no model."""
    page = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs', 'operators.md'), encoding='utf-8').read()
    read = re.findall(r'^\| (\w+) \|', page.split('## Read')[1].split('## Not read')[0], re.M)
    made = {o for c in outcomes for o in c.get('operators', [])}
    return sorted(set(read) - {'operator'} - made)


def report(outcomes, seconds):
    counts = collections.Counter(o['kind'] for o in outcomes)
    print(f'{len(outcomes)} models in {seconds:.0f} s ({len(outcomes) / max(seconds, 1e-9):.0f} models/s)')
    for kind, count in counts.most_common():
        print(f'{count:7} {kind}: {verdicts.KINDS.get(kind, "")}')
    for kind in ('refused', 'agree'):
        words = collections.Counter(verdicts.without_numbers(o['detail']) if kind == 'refused' else
                                    o['what'].split()[0] + ' ' + o['detail'].split(':')[0]
                                    for o in outcomes if o['kind'] == kind and o['detail'])
        if words:
            print(f'\n{kind}' + (', by reason:' if kind == 'refused' else ', but not with all oracles:'))
            for text, count in words.most_common():
                print(f'{count:7} {text}')


def show(program, seed):
    case = models.make(seed)
    with tempfile.TemporaryDirectory() as folder:
        tool = verdicts.Tool(program, folder)
        kind, detail = verdicts.judge(tool, case.model, case.feeds)
        print(f'seed {seed}: {case.family}, {case.what}\n{kind}: {detail}')
        model, feeds = shrink.shrunk(tool, case.model, case.feeds, kind) if kind in verdicts.BUGS else (case.model, case.feeds)
        print(text_of(model, feeds))
        said = tool.ask(model, feeds)
        for form, s in said.items() if isinstance(said, dict) else []:
            for r in s.get('results', []):
                print(f'dice, {form}: {r["type"]} {r["shape"]} {short(r["values"])}')
            for p in s.get('problems', []):
                print(f'dice, {form}: {p["operator"]}: {p["reason"]}; {p["remedy"]}')
        for a in oracle.answers(model, feeds):
            print(f'{a.by}: ' + (a.refusal[:600] if a.values is None else
                                 '; '.join(f'{v.dtype.name} {list(v.shape)} {short(v)}' for v in map(np.asarray, a.values))))
        tool.end()


def keep(program, seed, folder, name):
    """Writes the model of a seed, shrunk to what differs, and what is right: the results of an oracle, or dice's refusal."""
    case = models.make(seed)
    with tempfile.TemporaryDirectory() as scratch:
        tool = verdicts.Tool(program, scratch)
        kind, detail = verdicts.judge(tool, case.model, case.feeds)
        model, feeds = shrink.shrunk(tool, case.model, case.feeds, kind) if kind in verdicts.BUGS else (case.model, case.feeds)
        said = tool.ask(model, feeds)
        tool.end()
    refused = next((p['reason'] for p in said['folded']['problems']), '')
    right = None if refused else next(a for a in oracle.answers(model, feeds) if a.values is not None)
    shown = [(v.dtype.name if v.dtype.name in verdicts.SHOWN_TYPES else 'float32', v) for v in map(np.asarray, right.values)] if right else []
    about = f'{case.what}, opset {model.opset_import[0].version}. ' + (
        f'The outputs are those of {right.by}.' if right else 'dice refuses it.')
    text = keeping.text_of(model, feeds, about, shown, refused)
    with open(os.path.join(folder, name + '.txt'), 'w') as f:
        f.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program', metavar='PROGRAM', help='random_models_answers')
    parser.add_argument('--seeds', default='0:10000', metavar='A:B', help='A … B - 1 (default: 0:10000)')
    parser.add_argument('--jobs', type=int, default=os.cpu_count(), help='processes (default: as many as cores)')
    parser.add_argument('--json', metavar='FILE', help='also writes the outcome of each seed')
    parser.add_argument('--show', type=int, nargs='+', metavar='SEED', help='only shows these models, shrunk, and all answers')
    parser.add_argument('--keep', nargs=2, metavar=('SEED', 'NAME'), help='writes the model of a seed to kept/NAME.txt')
    options = parser.parse_args()
    if options.keep:
        keep(options.program, int(options.keep[0]), os.path.join(os.path.dirname(os.path.abspath(__file__)), 'kept'), options.keep[1])
        return 0
    if options.show:
        for seed in options.show:
            show(options.program, seed)
        return 0
    first, last = map(int, options.seeds.split(':'))
    outcomes, begin, told = [], time.time(), [time.time()]

    def see(outcome):
        outcomes.append(outcome)
        if outcome['kind'] in verdicts.BUGS + ('broken', 'oracle crashed'):
            print(f'seed {outcome["seed"]}, {outcome["family"]}, {outcome["what"]}, opset {outcome["opset"]}: {outcome["kind"]}: '
                  f'{outcome["detail"][-1000:]}', flush=True)
        if time.time() - told[0] > 10:
            told[0] = time.time()
            print(f'{len(outcomes)} of {last - first}, {time.time() - begin:.0f} s', file=sys.stderr, flush=True)

    run(options.program, range(first, last), options.jobs, see)
    outcomes.sort(key=lambda o: o['seed'])
    report(outcomes, time.time() - begin)
    if options.json:
        with open(options.json, 'w') as f:
            json.dump(outcomes, f, indent=1)
    if never := never_made(outcomes):
        print(f'in no model: {", ".join(never)}')
    return int(any(o['kind'] in verdicts.BUGS for o in outcomes))


if __name__ == '__main__':
    sys.exit(main())
