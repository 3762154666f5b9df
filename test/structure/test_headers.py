"""test_headers.py COMPILER: the check of headers finds exactly those that do not compile alone."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = {
    "room/base.hpp": "#include <string>\n\nstruct base {\n  std::string text;\n};\n",
    "room/good.hpp": '#include "dice/room/base.hpp"\n\n#include <vector>\n\ninline std::vector<base> all() { return {}; }\n',
    "room/more.hpp": '#include "dice/room/good.hpp"\n\ninline base one() { return all().at(0); }\n',
}


def found(extra, flags=""):
    """(exit status, output) of the check of a tree with these additional headers."""
    with tempfile.TemporaryDirectory() as place:
        root = pathlib.Path(place)
        for name, text in {**HEADERS, **extra}.items():
            path = root / "include" / "dice" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("#pragma once\n" + text)
        command = f"{COMPILER} -std=c++20 -Wall {flags} -I{root}/include -o probe.o -c structure/probe.cpp"
        commands = root / "compile_commands.json"
        commands.write_text(json.dumps([{"directory": place, "file": "structure/probe.cpp", "command": command}]))
        done = subprocess.run([sys.executable, "-B", HERE / "headers.py", root, "2", commands], capture_output=True, text=True)
        return done.returncode, done.stdout


class Headers(unittest.TestCase):
    def refused(self, name, text, beside={}):
        status, output = found({**beside, name: text})
        self.assertEqual(status, 1)
        self.assertRegex(output, f"(?m)^.*dice/{name}.*:\n")
        self.assertRegex(output, f"not all of these compile alone without warnings: .*dice/{name}")

    def test_accepts(self):
        status, output = found({})
        self.assertEqual(status, 0, output)
        self.assertIn("3 headers", output)

    def test_refuses_what_another_header_would_bring(self):
        self.refused("room/a.hpp", "inline std::string text() { return {}; }\n")
        self.refused("room/a.hpp", '#include "dice/room/base.hpp"\ninline std::vector<base> some() { return {}; }\n')
        self.refused("room/a.hpp", '#if 0\n#include "dice/room/base.hpp"\n#endif\ninline base some() { return {}; }\n')

    def test_refuses_what_a_precompiled_header_would_bring(self):
        once = {"tensor/region.hpp": "#include <string>\n\nstruct region {};\n",
                **{f"tensor/{i}.hpp": '#include "dice/tensor/region.hpp"\n' for i in range(3)}}
        self.assertEqual(found(once)[0], 0)
        self.refused("tensor/a.hpp", "inline std::string text() { return {}; }\n", once)
        self.refused("tensor/a.hpp", '#include "dice/tensor/region.hpp"\ninline std::vector<region> some() { return {}; }\n', once)
        self.refused("tensor/region.hpp", "inline std::string text() { return {}; }\n", once)

    def test_refuses_what_its_neighbours_would_bring(self):
        kernels = {f"room/{i}.hpp": f'#include "dice/room/good.hpp"\n\n#include <{library}>\n\nstruct of_{i} {{}};\n'
                   for i, library in zip("abcde", ("map", "map", "set", "deque", "list"))}
        self.assertEqual(found(kernels)[0], 0)
        for uses in ("std::map<int, int>", "of_e"):
            self.refused("room/c1.hpp", f'#include "dice/room/good.hpp"\n\n#include <bitset>\n\ninline {uses} some() {{ return {{}}; }}\n', kernels)

    def test_refuses_warnings(self):
        self.refused("room/a.hpp", '#include "dice/room/base.hpp"\ninline void nothing() { int i; }\n')

    def test_leaves_out_what_needs_a_library_that_is_missing(self):
        gpu = {"kernels/cudnn/a.hpp": "#include <no_cuda_here.h>\n", "kernels/b.hpp": '#include "dice/kernels/cudnn/a.hpp"\n',
               "kernels/c.hpp": '#ifdef DICE_WITH_CUDNN\n#include "dice/kernels/cudnn/a.hpp"\n#endif\n'}
        status, output = found(gpu)
        self.assertEqual(status, 0, output)
        self.assertIn("has no CUDA and cuDNN: dice/kernels/b.hpp dice/kernels/cudnn/a.hpp\n4 headers in ", output)
        status, output = found(gpu, flags="-DDICE_WITH_CUDNN")
        self.assertEqual(status, 1)
        self.assertNotIn("left out", output)


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1)
    unittest.main()
