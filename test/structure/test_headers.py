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


def found(extra, folder="room", flags=""):
    """(exit status, output) of the check of `folder` in a tree with these additional headers."""
    with tempfile.TemporaryDirectory() as place:
        root = pathlib.Path(place)
        for name, text in {**HEADERS, **extra}.items():
            path = root / "include" / "dice" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("#pragma once\n" + text)
        command = f"{COMPILER} -std=c++20 -Wall {flags} -I{root}/include -o probe.o -c structure/probe.cpp"
        commands = root / "compile_commands.json"
        commands.write_text(json.dumps([{"directory": place, "file": "structure/probe.cpp", "command": command}]))
        done = subprocess.run([sys.executable, "-B", HERE / "headers.py", root, folder, commands], capture_output=True, text=True)
        return done.returncode, done.stdout


class Headers(unittest.TestCase):
    def refused(self, name, text):
        status, output = found({name: text})
        self.assertEqual(status, 1)
        self.assertIn(f"dice/{name}:\n", output)
        self.assertIn("of which 1 do not", output)

    def test_accepts(self):
        status, output = found({})
        self.assertEqual(status, 0, output)
        self.assertIn("3 headers", output)

    def test_refuses_what_another_header_would_bring(self):
        self.refused("room/a.hpp", "inline std::string text() { return {}; }\n")
        self.refused("room/a.hpp", '#include "dice/room/base.hpp"\ninline std::vector<base> some() { return {}; }\n')
        self.refused("room/a.hpp", '#if 0\n#include "dice/room/base.hpp"\n#endif\ninline base some() { return {}; }\n')

    def test_refuses_warnings(self):
        self.refused("room/a.hpp", '#include "dice/room/base.hpp"\ninline void nothing() { int i; }\n')

    def test_leaves_out_what_needs_a_library_that_is_missing(self):
        gpu = {"kernels/cudnn/a.hpp": "#include <no_cuda_here.h>\n", "kernels/b.hpp": '#include "dice/kernels/cudnn/a.hpp"\n',
               "kernels/c.hpp": '#ifdef DICE_WITH_CUDNN\n#include "dice/kernels/cudnn/a.hpp"\n#endif\n'}
        status, output = found(gpu, "kernels/cudnn")
        self.assertEqual(status, 77, output)
        self.assertIn("has no CUDA and cuDNN: dice/kernels/cudnn/a.hpp\n", output)
        status, output = found(gpu, "kernels")
        self.assertEqual(status, 0, output)
        self.assertIn("has no CUDA and cuDNN: dice/kernels/b.hpp\n1 headers in ", output)
        for folder in ("kernels", "kernels/cudnn"):
            status, output = found(gpu, folder, "-DDICE_WITH_CUDNN")
            self.assertEqual(status, 1)
            self.assertNotIn("left out", output)


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1)
    unittest.main()
