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

| library | its headers | only in | its names | only in |
|---|---|---|---|---|
| OpenMP | `omp.h` | `kernels/openmp` | `omp_*`, `#pragma omp` | `kernels/openmp` |
| CUDA and cuDNN | `cuda*`, `cudnn*` | `kernels/cudnn` | `cuda[A-Z]*`, `cublas*` | `kernels/cudnn` |
| MPI | `mpi.h`, `boost/mpi*` | `channels/mpi` | `MPI_*`, `OMPI_*`, `boost::mpi`, `DICE_WITH_MPI` | `channels` |
| xtensor | `xtensor/*` | `runtime`, `app` | – | – |
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

    def test_accepts_names_where_their_library_is(self):
        self.accepted("channels/a.hpp", "#ifdef DICE_WITH_MPI\nusing processes = MPI_Comm;\n#endif\n")
        self.accepted("channels/mpi/a.hpp", 'const char* size = "OMPI_COMM_WORLD_SIZE";\nboost::mpi::communicator ranks;\n')
        self.accepted("kernels/openmp/a.hpp", 'int n = omp_get_num_threads();\n_Pragma("omp barrier")\n')
        self.accepted("kernels/cudnn/a.hpp", "cudaError_t e = cudaSetDevice(0);\n")

    def test_accepts_names_in_comments_and_in_longer_ones(self):
        self.accepted("app/a.hpp", "/// An MPI_Comm.\nint i;  // \"MPI_Init\"\n/* #pragma omp\n   cudaFree */ int j;\n")
        self.accepted("app/a.hpp", "bool is_MPI_Comm, my_omp_lock, by_boost; int cuda_aware, cudaless, DICE_WITH_MPI_TOO;\n")
        self.accepted("app/a.hpp", "const int n = 1'000;  // MPI's MPI_Init: it's \"\n")

    def test_refuses_names_elsewhere(self):
        for room in ("job", "app"):
            page = PAGE.replace("| 13 |", "| 12 | `job/` | runs | channels |\n| 13 |")
            found = problems({f"{room}/a.hpp": "// MPI_Init\n#ifdef DICE_WITH_MPI\n#endif\n"}, page)
            self.assertEqual(found, [f"include/dice/{room}/a.hpp:3: MPI appears only in channels (DICE_WITH_MPI)"])
        self.refused("runtime/a.hpp", "/* a\n b */ MPI_Comm ranks;\n", "MPI appears only in channels (MPI_Comm)")
        self.refused("runtime/a.hpp", 'auto a = std::getenv("OMPI_COMM_WORLD_SIZE");\n', "(OMPI_COMM_WORLD_SIZE)")
        self.refused("runtime/a.hpp", 'auto a = "// \\" /*", b = MPI_COMM_WORLD;\n', "(MPI_COMM_WORLD)")
        self.refused("runtime/a.hpp", "char a = '\"'; MPI_Comm b; char c = '\"';\n", "(MPI_Comm)")
        self.refused("runtime/a.hpp", 'auto a = R"(")"; MPI_Comm b;\n', "(MPI_Comm)")
        self.refused("runtime/a.hpp", "using boost::mpi::communicator;\n", "(boost::mpi)")
        self.refused("kernels/a.hpp", "int n = omp_get_num_threads();\n", "OpenMP appears only in kernels/openmp (omp_get_num_threads)")
        self.refused("kernels/a.hpp", '#define BARRIER _Pragma("omp barrier")\n', "OpenMP appears only")
        self.refused("kernels/openmp/a.hpp", "cudaStream_t s;\n", "CUDA and cuDNN appears only in kernels/cudnn (cudaStream_t)")
        self.refused("kernels/a.hpp", "cublasHandle_t h;\n", "(cublasHandle_t)")

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
        self.assertIn("table of rooms cannot be read", problems({}, "no table here")[0])
        self.assertIn("table of libraries cannot be read", problems({}, PAGE.replace("| library |", "| a library |"))[0])


if __name__ == "__main__":
    unittest.main()
