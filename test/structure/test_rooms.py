"""The check of the rooms refuses what it must and accepts what it may: small trees, each with one header that matters."""
import pathlib
import tempfile
import unittest

import rooms

PAGE = """
| # | room | holds | may include |
|---|---|---|---|
| 1 | `meta/` | lists | – |
| 2 | `tensor/` | shapes | – |
| 3 | `model/` | operators | tensor |
| 8 | `partition/` | search | tensor, model |
| 10 | `kernels/` | kernels | tensor, model |
| 11 | `channels/` | channels | tensor |
| 12 | `runtime/` | executor | tensor, kernels, channels |
| 13 | `app/` | main | all; `dice/dice.hpp` is its umbrella |
"""
HEADERS = {"meta/meta.hpp": "", "tensor/shape.hpp": "", "tensor/detail/x.hpp": "", "model/model.hpp": "",
           "kernels/kernel.hpp": "", "dice.hpp": '#include "dice/app/main.hpp"\n', "app/main.hpp": "", "app/b.ipp": ""}


def problems(extra, page=PAGE):
    """What the check says about the tree with these headers more."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs").mkdir()
        (root / "docs" / "architecture.md").write_text(page, encoding="utf-8")
        for name, text in {**HEADERS, **extra}.items():
            path = root / "include" / "dice" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text if text.startswith("!") else "#pragma once\n" + text, encoding="utf-8")
        return rooms.check(root)[0]


class Rooms(unittest.TestCase):
    def accepted(self, name, text):
        self.assertEqual(problems({name: text}), [])

    def refused(self, name, text, reason):
        found = problems({name: text})
        self.assertEqual(len(found), 1, found)
        self.assertIn(f"include/dice/{name}:", found[0])
        self.assertIn(reason, found[0])

    def test_accepts(self):
        self.accepted("model/a.hpp", '#include "dice/tensor/shape.hpp"\n#include "dice/meta/meta.hpp"\n#include <array>\n')
        self.accepted("tensor/a.hpp", '#include "dice/tensor/detail/x.hpp"\n#include <boost/hana.hpp>\n')
        self.accepted("app/a.hpp", '#include "dice/kernels/kernel.hpp"\n#include <unistd.h>\n')
        self.accepted("kernels/openmp/a.hpp", "#include <omp.h>\n#pragma omp parallel\n")
        self.accepted("channels/mpi/a.hpp", "#include <boost/mpi.hpp>\n")
        self.accepted("version.hpp", "#include <string_view>\n")
        self.accepted("runtime/a.hpp", "#include <xtensor/xarray.hpp>\n")

    def test_refuses_another_room(self):
        self.refused("tensor/a.hpp", '#include "dice/model/model.hpp"\n', "tensor may not include model")
        self.refused("model/a.hpp", "  #  include <dice/kernels/kernel.hpp>\n", "model may not include kernels")

    def test_is_not_transitive(self):
        self.refused("runtime/a.hpp", '#include "dice/model/model.hpp"\n', "runtime may not include model")

    def test_refuses_private_headers(self):
        self.refused("model/a.hpp", '#include "dice/tensor/detail/x.hpp"\n', "private to tensor")

    def test_refuses_third_parties(self):
        self.refused("model/a.hpp", "#include <unistd.h>\n", "standard library")
        self.refused("tensor/a.hpp", "#include <xtensor/xarray.hpp>\n", "xtensor appears only")
        self.refused("kernels/a.hpp", "#include <omp.h>\n", "OpenMP appears only")
        self.refused("runtime/a.hpp", "#pragma omp parallel for\n", "OpenMP appears only")
        self.refused("runtime/a.hpp", "#include <boost/mpi/communicator.hpp>\n", "MPI appears only")
        self.refused("app/a.hpp", "#include <mpi.h>\n", "MPI appears only")
        self.refused("kernels/openmp/a.hpp", "#include <cudnn.h>\n", "cuDNN appears only")

    def test_refuses_strangers(self):
        self.refused("model/a.hpp", '#include "dice/tensor/none.hpp"\n', "no such header")
        self.refused("model/a.hpp", '#include "model.hpp"\n', "write dice's own headers")
        self.refused("app/a.hpp", '#include "dice/dice.hpp"\n', "for users")
        self.refused("app/a.hpp", '#include "dice/app/b.ipp"\n', "where there is no library")
        self.refused("attic/a.hpp", "", "no room 'attic'")
        self.refused("loose.hpp", "", "outside the rooms'")
        self.refused("model/a.hpp", "!\n", "no #pragma once")

    def test_refuses_a_page_without_table(self):
        self.assertIn("cannot be read", problems({}, "no table here")[0])


if __name__ == "__main__":
    unittest.main()
