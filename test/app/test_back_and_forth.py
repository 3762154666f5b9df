#!/usr/bin/env python3
"""test_back_and_forth.py PROGRAM openmp|other: what examples/back_and_forth says of itself is true.

PROGRAM is that example. The page shows the sizes of the OpenMP backend, which are the same on every board; sizes of other
backends are not compared.
"""
import pathlib
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree

import numpy as np

HERE = pathlib.Path(__file__).resolve().parents[2] / 'examples' / 'back_and_forth'
sys.path.insert(0, str(HERE))
import make_model  # noqa: E402

PROGRAM = None
OPENMP = False


def printed(*arguments):
    return subprocess.run([PROGRAM, *arguments], text=True, stdout=subprocess.PIPE, check=True, timeout=30).stdout


def comparable(text):
    """The words of each line; for other backends without sizes (except messages' 2048 B), places in scratch, and kernels'
    memory."""
    if OPENMP:
        return [line.split() for line in text.splitlines() if line.strip()]
    text = re.sub(r'\b(?!2048 B)[\d.]+ (B|KiB|MiB)\b', 'SIZE', text)
    text = re.sub(r'scratch\+\d+', 'scratch', text)
    return [line.split() for line in text.splitlines() if line.strip() and "(kernel's memory)" not in line]


class Readme(unittest.TestCase):
    def shown(self, command):
        """The block after the block with a command."""
        text = (HERE / 'README.md').read_text()
        found = re.search(r'```sh\n' + re.escape(command) + r'\n```\n.*?```\n(.*?)```', text, re.DOTALL)
        self.assertIsNotNone(found, command)
        return found[1]

    def test_plan(self):
        for form in ('--plan', '--plan=steps'):
            self.assertEqual(comparable(printed(form)), comparable(self.shown(f'build/back_and_forth {form}')))

    def test_answers(self):
        command = 'build/back_and_forth --transport in-process --input features.npy --expect scores.npy --top 1'
        arguments = [str(HERE / word) if word.endswith('.npy') else word for word in command.split()[1:]]
        shown = self.shown(command).splitlines()
        self.assertEqual([line for line in printed(*arguments).splitlines() if line.startswith('frame ')], shown[:-1])

    def test_mapping(self):
        block = re.search(r'```cpp\n(.*?)```', (HERE / 'README.md').read_text(), re.DOTALL)[1]
        self.assertIn(block, (HERE / 'back_and_forth.cpp').read_text())

    def test_drawing(self):
        """plan.svg has the texts of the plan."""
        svg = xml.etree.ElementTree.parse(HERE / 'plan.svg')
        texts = [part.text.strip() for part in svg.iter('{http://www.w3.org/2000/svg}tspan')]
        wanted = [line.strip() for label in re.findall(r'label="(.*?)"', printed('--plan=dot')) for line in label.split(r'\n') if line]
        self.assertEqual(sorted(comparable('\n'.join(texts))), sorted(comparable('\n'.join(wanted))))


class Model(unittest.TestCase):
    def test_files_are_the_generators(self):
        weights, frames = make_model.numbers()
        np.testing.assert_array_equal(np.load(HERE / 'features.npy'), frames)
        np.testing.assert_array_equal(np.load(HERE / 'scores.npy'), make_model.scores(weights, frames).astype(np.float32))
        model = (HERE / 'back_and_forth.onnx').read_bytes()
        for name, value in weights.items():
            self.assertIn(value.tobytes(), model, name)


if __name__ == '__main__':
    OPENMP = sys.argv.pop(2) == 'openmp'
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
