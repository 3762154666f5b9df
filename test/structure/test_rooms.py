"""The check of the rooms refuses and accepts what it should: small trees, each with one header that matters."""
import pathlib
import tempfile
import unittest

import rooms

PAGE = """
| # | room | holds | may include |
|---|---|---|---|
| 1 | `meta/` | lists | – |
| 2 | `tensor/` | shapes | – |
| 3 | `graph/` | operators | tensor |
| 8 | `partition/` | search | tensor, graph |
| 10 | `kernels/` | kernels | tensor, graph |
| 11 | `channels/` | channels | tensor |
| 12 | `runtime/` | executor | tensor, kernels, channels |
| 13 | `app/` | main | all; `dice/dice.hpp` is its umbrella |
"""
HEADERS = {"meta/meta.hpp": "", "tensor/shape.hpp": "", "tensor/detail/x.hpp": "", "graph/graph.hpp": "",
           "kernels/kernel.hpp": "", "dice.hpp": '#include "dice/app/main.hpp"\n', "app/main.hpp": "", "app/b.ipp": ""}


def problems(extra, page=PAGE):
    """What the check says about the tree with these additional headers."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs").mkdir()
        (root / "docs" / "architecture.md").write_text(page, encoding="utf-8")
        for name, text in {**HEADERS, **extra}.items():
            path = root / "include" / "dice" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text if text.startswith("!") else "#pragma once\n" + text, encoding="utf-8")
        return rooms.check(root)


class Rooms(unittest.TestCase):
    def accepted(self, name, text):
        self.assertEqual(problems({name: text}), [])

    def refused(self, name, text, reason):
        found = problems({name: text})
        self.assertEqual(len(found), 1, found)
        self.assertIn(f"include/dice/{name}:", found[0])
        self.assertIn(reason, found[0])

    def test_accepts(self):
        self.accepted("graph/a.hpp", '#include "dice/tensor/shape.hpp"\n#include "dice/meta/meta.hpp"\n#include <array>\n')
        self.accepted("tensor/a.hpp", '#include "dice/tensor/detail/x.hpp"\n#include <boost/hana.hpp>\n')
        self.accepted("app/a.hpp", '#include "dice/kernels/kernel.hpp"\n#include <unistd.h>\n')
        self.accepted("kernels/openmp/a.hpp", "#include <omp.h>\n#pragma omp parallel\n")
        self.accepted("channels/mpi/a.hpp", "#include <boost/mpi.hpp>\n")
        self.accepted("version.hpp", "#include <string_view>\n")
        self.accepted("runtime/a.hpp", "#include <xtensor/xarray.hpp>\n")

    def test_refuses_another_room(self):
        self.refused("tensor/a.hpp", '#include "dice/graph/graph.hpp"\n', "tensor may not include graph")
        self.refused("graph/a.hpp", "  #  include <dice/kernels/kernel.hpp>\n", "graph may not include kernels")

    def test_is_not_transitive(self):
        self.refused("runtime/a.hpp", '#include "dice/graph/graph.hpp"\n', "runtime may not include graph")

    def test_refuses_private_headers(self):
        self.refused("graph/a.hpp", '#include "dice/tensor/detail/x.hpp"\n', "private to tensor")

    def test_refuses_third_parties(self):
        self.refused("graph/a.hpp", "#include <unistd.h>\n", "standard library")
        self.refused("tensor/a.hpp", "#include <xtensor/xarray.hpp>\n", "xtensor appears only")
        self.refused("kernels/a.hpp", "#include <omp.h>\n", "OpenMP appears only")
        self.refused("runtime/a.hpp", "#pragma omp parallel for\n", "OpenMP appears only")
        self.refused("runtime/a.hpp", "#include <boost/mpi/communicator.hpp>\n", "MPI appears only")
        self.refused("app/a.hpp", "#include <mpi.h>\n", "MPI appears only")
        self.refused("kernels/openmp/a.hpp", "#include <cudnn.h>\n", "cuDNN appears only")

    def test_refuses_strangers(self):
        self.refused("graph/a.hpp", '#include "dice/tensor/none.hpp"\n', "no such header")
        self.refused("graph/a.hpp", '#include "graph.hpp"\n', "write dice's own headers")
        self.refused("app/a.hpp", '#include "dice/dice.hpp"\n', "for users")
        self.refused("app/a.hpp", '#include "dice/app/b.ipp"\n', "where there is no library")
        self.refused("attic/a.hpp", "", "no room 'attic'")
        self.refused("loose.hpp", "", "outside the rooms'")
        self.refused("graph/a.hpp", "!\n", "no #pragma once")

    def test_refuses_circles(self):
        self.assertEqual(problems({"graph/a.hpp": '#include "dice/graph/b.hpp"\n', "graph/b.hpp": '#include "dice/graph/a.hpp"\n'}),
                         ["include/dice: a circle of includes: graph/a.hpp → graph/b.hpp → graph/a.hpp"])
        self.assertEqual(problems({"app/c.hpp": '#include "dice/app/c.ipp"\n', "app/c.ipp": '#include "dice/app/c.hpp"\n'}), [])

    def test_refuses_long_files(self):
        self.assertEqual(problems({"graph/a.hpp": "\n" * 499}), [])
        self.assertEqual(problems({"graph/a.hpp": "\n" * 500}), ["include/dice/graph/a.hpp: 501 lines; past 500 a file is two"])

    def test_refuses_a_page_without_table(self):
        self.assertIn("cannot be read", problems({}, "no table here")[0])


if __name__ == "__main__":
    unittest.main()
