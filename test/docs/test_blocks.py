"""Tests that blocks.py, mistakes.py and operators.py find mistakes."""
import pathlib
import tempfile
import unittest

import blocks
import mistakes
import operators


class Blocks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.page = pathlib.Path(self.folder.name) / 'page.md'

    def read(self, text):
        self.page.write_text(text)
        return blocks.read(self.page)

    def run_page(self, text):
        found, wrong = self.read(text)
        self.assertEqual(wrong, [])
        return blocks.run(found, self.page.parent / 'work', self.page.parent)

    def test_every_block_but_cpp_and_text_has_a_marker(self):
        for language, wanted in [('cpp', 0), ('', 0), ('sh', 1), ('cmake', 1), ('python', 1), ('fortran', 1)]:
            self.assertEqual(len(self.read(f'# A\n```{language}\nx = 1\n```\n')[1]), wanted, language)

    def test_wrong_markers(self):
        for marker, language in [('left out:', 'sh'), ('ran', 'sh'), ('run', 'cpp'), ('inside', 'cpp'), ('file', 'cmake')]:
            self.assertEqual(len(self.read(f'<!-- code: {marker} -->\n```{language}\n```\n')[1]), 1, marker)
        self.assertEqual(len(self.read('<!-- code: run -->\ntext\n')[1]), 1)
        self.assertEqual(len(self.read('<!-- code: left out: no reason to run -->\n```python\nif:\n```\n')[1]), 1)

    def test_translation_unit(self):
        found, wrong = self.read('```cpp\n#include <a>  // b\nint x;\n```\n<!-- code: inside\nvoid f() {\n…\n}\n-->\n```cpp\ng();\n```\n'
                                 '<!-- code: left out: why -->\n```cpp\nnever\n```\n')
        self.assertEqual(wrong, [])
        text = blocks.translation_unit(found)
        self.assertTrue(text.startswith('#include <a>\nnamespace block_page_2 {'))
        self.assertIn(f'void f() {{\n#line 11 "{self.page}"\ng();\n}}\n}}', text)
        self.assertNotIn('never', text)

    def test_a_page_is_followed(self):
        page = '<!-- code: file a -->\n```\nseven\n```\n<!-- code: run\nb=$(cat a)\n-->\n```sh\necho  $b\n```\n<!-- code: output -->\n```\n seven\n```\n'
        self.assertEqual(self.run_page(page), '')
        self.assertIn('not printed: eight', self.run_page(page.replace(' seven\n', 'eight\n')))
        self.assertIn('exit status 1', self.run_page(page.replace('echo', 'false;')))

    def test_output_that_differs_from_run_to_run(self):
        page = '<!-- code: output \\d+\\.\\d\\d\necho "5 frames  in 0.25 ms"\n-->\n```\n5 frames in 1.50 ms\n```\n'
        self.assertEqual(self.run_page(page), '')
        self.assertIn('not printed: 6 frames', self.run_page(page.replace('\n5', '\n6')))
        self.assertIn('not printed: 5 frames', self.run_page(page.replace('1.50', '1.5')))
        self.assertIn('exit status 1', self.run_page(page.replace('echo', 'false;')))
        self.assertIn('no regular expression', self.read(page.replace('\\d+', '('))[1][0])


class Mistakes(unittest.TestCase):
    def test_missing(self):
        errors = '#define DICE_MISTAKES(X) \\\n  X(bad, (f.number,), good)\n'
        cases = ['dice::error::bad<*, dice::remedy::good>']
        self.assertEqual(mistakes.missing(errors, '`dice::error::bad<7, dice::remedy::good>`', cases), [])
        self.assertEqual(len(mistakes.missing(errors, '`dice::error::bad<7, dice::remedy::fair>`', cases)), 1)
        self.assertEqual(len(mistakes.missing(errors, '`dice::error::bad<7, dice::remedy::good>`', [])), 1)


class Operators(unittest.TestCase):
    LISTING = ('operator  opsets  inputs  notes\nPad         7–28  both  not wrap\n    mode, pads (before 11)\n'
               'SwiGLU  28  activations\n    alpha\nIf    none    –    control flow\n')

    def wrong(self, old='', new='', newest=28):
        onnx = {'Pad': {o: {'mode', 'pads'} if o < 11 else {'mode'} for o in range(7, 29)}, 'If': {7: set()},
                'SwiGLU': {o: {'alpha'} if o == 28 else None for o in range(7, 29)}}
        return list(operators.differences(operators.read(self.LISTING.replace(old, new)), onnx, newest))

    def test_differences(self):
        self.assertEqual(self.wrong(), [])
        self.assertEqual(self.wrong(newest=17), [])
        self.assertEqual(self.wrong('before 11', 'before 10'), ['Pad: says nothing about pads at opset 10'])
        self.assertEqual(self.wrong('not wrap', 'without pads', 10), [])
        self.assertEqual(self.wrong('not wrap\n    mode, pads (before 11)', 'no mode, no pads'), [])
        self.assertEqual(self.wrong('alpha', 'alpha, beta (from 28)'), ['SwiGLU: ONNX has no beta at opset 28'])
        self.assertEqual(len(self.wrong('  28', '  27–28')), 1)
        self.assertEqual(self.wrong('If ', 'Of '), ['If: neither read nor among the operators that are not'])

    def test_tables(self):
        made = operators.tables(operators.read(self.LISTING))
        self.assertIn('\n| Pad | 7–28 | both | `mode`, `pads` (before 11) | not wrap |\n', made)
        self.assertIn('\n| If | control flow |\n', made)


if __name__ == '__main__':
    unittest.main()
