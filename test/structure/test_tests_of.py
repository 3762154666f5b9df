"""scripts/tests-of: the tests nearest to a file."""
import importlib.machinery
import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader('tests_of', str(ROOT / 'scripts/tests-of'))
tests_of = importlib.util.module_from_spec(importlib.util.spec_from_loader('tests_of', loader))
loader.exec_module(tests_of)
known = tests_of.Map()


class Nearest(unittest.TestCase):
    def of(self, name):
        return known.nearest(ROOT / name)

    def test_a_file_with_a_test_of_its_own(self):
        how, commands = self.of('include/dice/cost/evaluator.hpp')
        self.assertEqual(how, 'include it')
        self.assertEqual(commands, ["cmake --build build --target test_cost && build/test/cost/test_cost --gtest_filter='*Evaluator*.*'",
                                    "cmake --build build --target test_partition_mixes && build/test/partition/test_partition_mixes "
                                    "--gtest_filter='*best_mapping*.*'"])

    def test_an_operator_and_its_kernels(self):
        for name in ('graph/ops/elu', 'kernels/openmp/resize', 'kernels/reference/elementwise'):
            how, commands = self.of(f'include/dice/{name}.hpp')
            self.assertTrue(how.startswith('use ops::') and any('test_kernels' in c for c in commands), (how, commands))

    def test_a_file_of_mutants_alone(self):
        how, commands = self.of('tools/dice-run/deploy.cpp')
        self.assertEqual(how, 'fail for its mutants')
        self.assertIn("cmake --build build && ctest --test-dir build --no-tests=error -R 'dice_run.Deploy'", commands)
        how, commands = self.of('include/dice/cost/check.hpp')  # its mutants do not compile
        self.assertTrue(how.startswith('include it through') and any('--gtest_filter' in c for c in commands), (how, commands))
        self.assertEqual(self.of('tools/onnx2hpp/ops/hard_swish.cpp')[1], ['ctest --test-dir build --no-tests=error -R onnx2hpp'])
        self.assertIn("cmake --build build --target test_kernels && build/test/kernels/test_kernels --gtest_filter='elementwise/*.of_nan'",
                      self.of('include/dice/kernels/detail/arithmetic.hpp')[1])

    def test_every_file_has_one(self):
        for path in known.sources:
            self.assertTrue(known.nearest(path)[1], path)

    def test_a_file_that_nothing_includes(self):
        self.assertEqual(known.nearest(ROOT / 'include/dice/cost/lonely.hpp')[1], [])


if __name__ == '__main__':
    unittest.main()
