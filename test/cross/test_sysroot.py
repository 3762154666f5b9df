#!/usr/bin/env python3
"""test_sysroot.py SYSROOT CMAKE TOOLCHAIN: what scripts/sysroot and the toolchain file say of complete sysroots and others. The
sysroots here have only the files that are looked for."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

LIB = "usr/lib/aarch64-linux-gnu"
FILES = {
    f"{LIB}/libc.so": "", f"{LIB}/libc.so.6": "GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.",
    "usr/include/stdio.h": "", "usr/include/boost/version.hpp": '#define BOOST_LIB_VERSION "1_74"\n', "usr/include/boost/mpi.hpp": "",
    "usr/include/xtensor/xtensor_config.hpp":
        "#define XTENSOR_VERSION_MAJOR 0\n#define XTENSOR_VERSION_MINOR 24\n#define XTENSOR_VERSION_PATCH 3\n",
    f"{LIB}/openmpi/include/mpi.h":
        "#define OMPI_MAJOR_VERSION 4\n#define OMPI_MINOR_VERSION 1\n#define OMPI_RELEASE_VERSION 4\n#define OMPI_GREEK_VERSION \"\"\n",
    f"{LIB}/libmpi.so.40": "", f"{LIB}/libboost_mpi.so": "", f"{LIB}/libboost_serialization.so": "",
    f"{LIB}/libgomp.so.1": "", f"{LIB}/libstdc++.so.6": "", f"{LIB}/libstb.so": "", "usr/include/stb/stb_image.h": "",
}
COMPLETE = """for        aarch64-linux-gnu
glibc      2.36
xtensor    0.24.3
Boost      1.74
Open MPI   4.1.4
Boost.MPI  yes
OpenMP     yes
stb        yes
"""


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.root = self.folder / "board"
        for name, text in FILES.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        (self.root / LIB / "openmpi/lib").mkdir()
        (self.root / LIB / "openmpi/lib/libmpi.so").symlink_to("../../libmpi.so.40")


class Sysroot(Case):
    def run_script(self, *words):
        return subprocess.run([SYSROOT, *map(str, words)], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def check(self, *words):
        done = self.run_script("check", *words, self.root)
        return done.returncode, done.stdout

    def test_complete(self):
        self.assertEqual(self.check(), (0, COMPLETE))

    def test_missing_files_are_named_with_their_packages(self):
        (self.root / LIB / "libboost_mpi.so").unlink()
        (self.root / LIB / "openmpi/include/mpi.h").unlink()
        status, said = self.check()
        self.assertEqual(status, 1)
        self.assertIn(f"MISSING    no {LIB}/openmpi/include/mpi.h (Debian: libopenmpi-dev)\n", said)
        self.assertIn(f"MISSING    no {LIB}/libboost_mpi.so (Debian: libboost-mpi-dev)\n", said)
        self.assertNotIn("Open MPI", said)
        self.assertEqual(self.check("--without-mpi")[0], 0)

    def test_a_link_that_leads_nowhere(self):
        link = self.root / LIB / "openmpi/lib/libmpi.so"
        link.unlink()
        link.symlink_to("/etc/alternatives/none")
        status, said = self.check()
        self.assertEqual(status, 1)
        self.assertIn("openmpi/lib/libmpi.so is a link to /etc/alternatives/none, which is missing", said)

    def test_an_open_mpi_of_ones_own(self):
        (self.root / "usr/local").mkdir()
        (self.root / LIB / "openmpi").rename(self.root / "usr/local/openmpi")
        self.assertEqual(self.check()[0], 1)
        for folder in "include", "lib":
            (self.root / "usr/local/openmpi" / folder).rename(self.root / "usr/local" / folder)
        (self.root / "usr/local/lib/libmpi.so").unlink()
        (self.root / "usr/local/lib/libmpi.so").write_text("")
        self.assertEqual(self.check(), (0, COMPLETE))

    def test_without_a_c_library(self):
        shutil.rmtree(self.root / LIB)
        self.assertEqual(self.check(), (1, "MISSING    no usr/lib/ARCHITECTURE/libc.so (Debian: libc6-dev)\n"))

    def test_pictures_are_optional(self):
        (self.root / LIB / "libstb.so").unlink()
        status, said = self.check()
        self.assertEqual(status, 0)
        self.assertIn("stb        no: programs read no pictures (Debian: libstb-dev)", said)

    @unittest.skipUnless(shutil.which("rsync"), "no rsync here")
    def test_copy_of_a_board(self):
        # On boards, these links are absolute.
        (self.root / "etc/alternatives").mkdir(parents=True)
        (self.root / "etc/alternatives/libmpi.so").symlink_to(f"/{LIB}/libmpi.so.40")
        (self.root / LIB / "libmpi.so").symlink_to("/etc/alternatives/libmpi.so")
        (self.root / "lib").symlink_to("usr/lib")
        (self.root / "usr/lib/firmware").mkdir()
        (self.root / "usr/lib/firmware/large").write_text("")
        (self.root / "home").mkdir()
        (self.root / "home/own").write_text("")
        done = self.run_script("board", "./board", "copy")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, COMPLETE, ""))
        copy = self.folder / "copy"
        self.assertTrue(copy.joinpath(LIB, "libmpi.so").resolve().samefile(copy / LIB / "libmpi.so.40"))
        for name in FILES:
            self.assertTrue((copy / name).exists(), name)
        self.assertFalse((copy / "home").exists() or (copy / "usr/lib/firmware").exists())

        again = self.run_script("board", "./board", "copy")
        self.assertEqual(again.returncode, 1)
        self.assertIn("copy' exists: remove it, or name another folder", again.stderr)

    @unittest.skipUnless(shutil.which("rsync"), "no rsync here")
    def test_nothing_is_left_of_what_is_not_complete(self):
        (self.root / LIB / "libmpi.so.40").unlink()
        done = self.run_script("board", "./board", "copy")
        self.assertEqual(done.returncode, 1)
        self.assertIn("libmpi.so is a link to ../../libmpi.so.40, which is missing", done.stdout)
        self.assertIn("install what is missing on the board, and repeat this command", done.stderr)
        done = self.run_script("board", "./none", "copy")
        self.assertEqual(done.returncode, 1)
        self.assertIn("rsync could not copy './none/'", done.stderr)
        self.assertEqual(os.listdir(self.folder), ["board"])

    def test_packages_that_cannot_be_downloaded(self):
        done = self.run_script("debian", "--suite", "none", "root")
        self.assertEqual(done.returncode, 77 if shutil.which("apt-get") else 1, done.stderr)
        self.assertEqual(os.listdir(self.folder), ["board"])

    def test_wrong_usage(self):
        for words, says in [([], "usage:"), (["frobnicate", "x"], "usage:"), (["board", "x"], "usage:"), (["debian"], "usage:"),
                            (["debian", "--arch"], "--arch needs a value"), (["check", "--suite", "x"], "'check' has no option '--suite'")]:
            done = self.run_script(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(says, done.stderr)
        self.assertEqual(self.run_script("check", "none").returncode, 1)
        self.assertIn("usage:", self.run_script("debian", "--help").stdout)


@unittest.skipUnless(shutil.which("aarch64-linux-gnu-g++"), "no g++-aarch64-linux-gnu here")
class Toolchain(Case):
    """CMake stops before it tries the compiler."""
    def setUp(self):
        super().setUp()
        (self.folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\n")

    def configure(self, *options):
        done = subprocess.run([CMAKE, "-S", self.folder, "-B", self.folder / "build", "--toolchain", TOOLCHAIN, *options],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        return " ".join(done.stderr.split())

    def test_complete(self):  # but its files are empty
        said = self.configure(f"-DDICE_SYSROOT={self.root}")
        self.assertIn("not able to compile a simple test program", said)
        self.assertNotIn("aarch64-linux-gnu.cmake", said)  # no complaint

    def test_no_sysroot(self):
        for options in [], [f"-DDICE_SYSROOT={self.folder}/none"]:
            self.assertRegex(self.configure(*options), "there is no sysroot '.*'. Make one .*sysroot debian DIR .*sysroot board USER@HOST DIR")

    def test_incomplete(self):
        (self.root / LIB / "libmpi.so.40").unlink()
        said = self.configure(f"-DDICE_SYSROOT={self.root}")
        self.assertRegex(said, "is not complete, or not for aarch64: .*libmpi.so is a link to ../../libmpi.so.40, which is missing")
        self.assertRegex(said, "sysroot debian DIR")
        self.assertIn("not able to compile", self.configure(f"-DDICE_SYSROOT={self.root}", "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON"))

    def test_of_another_architecture(self):
        (self.root / LIB).rename(self.root / "usr/lib/x86_64-linux-gnu")
        self.assertIn("is not complete, or not for aarch64: for x86_64-linux-gnu", self.configure(f"-DDICE_SYSROOT={self.root}"))


if __name__ == "__main__":
    SYSROOT, CMAKE, TOOLCHAIN = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
