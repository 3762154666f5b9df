#include "ops/binary.hpp"

#include "dice/graph/ops/sub.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::sub> {
  static constexpr const char* name = "sub";
  static void write(const dice::ops::sub& op, const dice::ops::sub&, initialiser& out) { write_binary(op, out); }
};

namespace {

const importer known("Sub", import_binary<dice::ops::sub>);

}  // namespace
}  // namespace onnx2hpp
