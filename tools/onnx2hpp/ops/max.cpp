#include "ops/binary.hpp"

#include "dice/graph/ops/max.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::max> {
  static constexpr const char* name = "max";
  static void write(const dice::ops::max& op, const dice::ops::max&, initialiser& out) { write_binary(op, out); }
};

namespace {

const importer known("Max", import_variadic<dice::ops::max>);

}  // namespace
}  // namespace onnx2hpp
