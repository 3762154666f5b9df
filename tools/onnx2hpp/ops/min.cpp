#include "ops/binary.hpp"

#include "dice/graph/ops/min.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::min> {
  static constexpr const char* name = "min";
  static void write(const dice::ops::min& op, const dice::ops::min&, initialiser& out) { write_binary(op, out); }
};

namespace {

const importer known("Min", import_variadic<dice::ops::min>);

}  // namespace
}  // namespace onnx2hpp
