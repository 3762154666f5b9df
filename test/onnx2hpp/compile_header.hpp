/// Compiles the headers that onnx2hpp made.
#pragma once

#include "run_tool.hpp"

#include <fstream>

namespace onnx2hpp_test {

/// Compiles the header with its network's table, in a program that includes many other headers first.
inline outcome compile(const std::filesystem::path& folder, const std::string& name, const std::string& checks = "") {
  std::ofstream(folder / "t.cpp") << "#include \"" << name << ".hpp\"\n"
                                  << "static_assert(::dice::graph::view_of<" << name << "::network>.size() == " << name
                                  << "::network::size);\n"
                                  << checks << "\n";
  return run({CXX_COMPILER, "-std=gnu++20", "-DDICE_MPI", "-fsyntax-only", "-Wall", "-Wextra", "-I", DICE_INCLUDE, "-I",
              folder, "-include", COMPILE_PRELUDE, folder / "t.cpp"});
}

}  // namespace onnx2hpp_test
