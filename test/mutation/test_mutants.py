"""Where mutants.py and definitions.py find what a mutant changes."""
import pathlib
import tempfile
import unittest

import definitions
from mutants import Mutant, Sources

HUB = '''#pragma once
namespace dice::channels {

/// Lines; run(1) and { are words of this comment.
class hub {
 public:
  explicit hub(int lines) : lines_(lines), most_{lines > 9 ? 9 : lines} { open(lines); }
  template <class F> requires (sizeof(F) > 1) auto run(F f) const -> decltype(f(0)) {
    const char* text = "} // {";  // }
    const char mark = '}', raw[] = R"x(})" )x";
    return f(text[0] + mark + raw[0] + lines_);
  }
  bool operator()(int line) const { return line < lines_; }
  ~hub() { close(); }

 private:
  int lines_ = 3, most_;
  void (*ended_)(int) = nullptr;
};

inline constexpr int limits[]{1, 2, 3};
enum class kind : char { line, circle };
using line = hub*;

}  // namespace dice::channels
'''
RUN = '''namespace dice {
namespace {
int run(int x) { return x + 1; }
long run(long x) {
#ifdef WIDE
  if (x > 1) {
#else
  if (x > 2) {
#endif
    return x - 1;
  }
  return 0;
}
struct point {
  int x = 0;
} origin;
}  // namespace
DICE_MACRO(point)
template <class T> int size_of;
template <> int size_of<char> = 1;
template <> struct table<int, point> { int run() { return 7 >> 2; } };
template <> struct table<long, point> { int run() { return 7 >> 2; } };
}  // namespace dice
extern "C" {
int dice::channels::hub::outside(int x) { return x * 8; }
}
'''


class Places(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        self.write('include/dice/hub.hpp', HUB)
        self.write('src/run.cpp', RUN)
        self.write('test/hub.cpp', HUB)
        self.write('tools/start.sh', 'start() {\n  kill -TERM 1\n  kill  -TERM 2\n}\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def found(self, place, old, file=''):
        """The lines in which the old text is, each as often as it is there."""
        sources = Sources(self.root)
        places = sources.places(Mutant('m', place, file, old, '', 'target', 'test'))
        return [path.read_text()[:begin].count('\n') + 1 for path, begin, _ in places]

    def mistake(self, place, old, file=''):
        return next(iter(Sources(self.root).mistakes([Mutant('m', place, file, old, 'other', 'target', 'test')])), '')

    def test_one(self):
        self.assertEqual(self.found('hub', 'lines > 9 ? 9 : lines'), [7])
        self.assertEqual(self.found('hub::hub', 'open ( lines )'), [7])
        self.assertEqual(self.found('channels::hub::run', 'lines_'), [11])
        self.assertEqual(self.found('dice::channels::hub::operator()', '<'), [13])
        self.assertEqual(self.found('~hub', 'close();'), [14])
        self.assertEqual(self.found('lines_', '= 3'), [17])
        self.assertEqual(self.found('ended_', 'nullptr'), [18])
        self.assertEqual(self.found('limits', '2, 3'), [21])
        self.assertEqual(self.found('kind', 'circle'), [22])
        self.assertEqual(self.found('line', 'hub*'), [23])
        self.assertEqual(self.found('point', 'x = 0'), [15])
        self.assertEqual(self.found('DICE_MACRO', 'point'), [18])
        self.assertEqual(self.found('size_of<char>', '1'), [20])
        self.assertEqual(self.found('hub::outside', '8'), [25])
        self.assertEqual(self.mistake('hub', 'lines > 9 ? 9 : lines'), '')

    def test_brackets_in_texts_comments_and_conditions(self):
        self.assertEqual(self.found('hub::run', '"} // {"'), [9])
        self.assertEqual(self.found('hub::run', '}'), [12])
        self.assertEqual(self.found('hub', 'words of this comment'), [])
        self.assertEqual(self.found('run', 'x - 1'), [10])
        self.assertEqual(self.found('run', 'return 0;'), [12])
        self.assertEqual(self.found('run', 'x > 2'), [8])

    def test_overloads(self):
        self.assertEqual(self.found('dice::run', 'x + 1'), [3])
        self.assertEqual(len(self.found('dice::run', 'return')), 3)
        self.assertIn('dice::run contains the old text 3 times, expected once: \'return\'\n  src/run.cpp:3\n  src/run.cpp:10\n',
                      self.mistake('dice::run', 'return'))

    def test_specialisations(self):
        self.assertEqual(self.found('table::run', '7 >> 2'), [21, 22])
        self.assertEqual(self.found('table<long, point>::run', '7 > > 2'), [22])

    def test_missing(self):
        self.assertEqual(self.mistake('hub::run', 'lines_ + 1'),
                         "m: hub::run contains the old text 0 times, expected once: 'lines_ + 1'")
        self.assertEqual(self.mistake('hub::walk', '9'), "m: nothing is called 'hub::walk'")
        self.assertEqual(self.mistake('ub::run', '9'), "m: nothing is called 'ub::run'")
        self.assertEqual(self.mistake('', 'x'), "m: expected 'in' or 'file'")
        self.assertEqual(self.mistake('', 'kill', 'stop.sh'), "m: there is no file 'stop.sh'")
        self.assertEqual(self.mistake('hub', ''), "m: hub contains the old text 0 times, expected once: ''")

    def test_filters(self):
        for test, right in (('Hub.*:*run', True), ('ctest ^hub .*$', True), ('build', True), ('* build', False)):
            found = list(Sources(self.root).mistakes([Mutant('m', 'hub::run', '', '= 3', '= 4', 'target', test)]))
            self.assertEqual([t for t in found if 'FILTER' in t] == [], right, found)

    def test_moved_and_reformatted(self):
        (self.root / 'include/dice/hub.hpp').unlink()
        self.write('include/dice/channels/other.hpp', HUB.replace(' + ', '\n      +  // and\n').replace('{ return', '{\n return'))
        self.assertEqual(len(self.found('hub::run', 'text[0] + mark')), 1)
        self.assertEqual(len(self.found('hub::operator()', '{ return line<lines_; }')), 1)

    def test_files(self):
        self.assertEqual(self.found('', 'kill -TERM 2', 'start.sh'), [3])
        self.assertEqual(self.found('', 'kill -TERM', 'tools/start.sh'), [2, 3])
        self.write('cmake/start.sh', '')
        self.assertEqual(self.mistake('', 'kill', 'start.sh'), "m: there are 2 files 'start.sh'")

    def test_changes(self):
        path, text = Sources(self.root).mutated(Mutant('m', 'hub::run', '', 'lines_', ''))
        self.assertEqual((path.name, text), ('hub.hpp', HUB.replace('raw[0] + lines_', 'raw[0] +   ')))
        _, text = Sources(self.root).mutated(Mutant('m', '', 'start.sh', '-TERM 2', '-KILL 2'))
        self.assertIn('kill  -KILL 2', text)

    def test_ends_of_what_is_cut_short(self):
        for source in (HUB, RUN):
            tokens = definitions.tokens(source)
            for count in range(len(tokens)):
                definitions.of(tokens[:count])


if __name__ == '__main__':
    unittest.main()
