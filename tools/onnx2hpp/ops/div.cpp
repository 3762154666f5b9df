#include "ops/binary.hpp"

#include "dice/graph/ops/div.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::div> {
  static constexpr const char* name = "div";
  static void write(const dice::ops::div& op, const dice::ops::div&, initialiser& out) { write_binary(op, out); }
};

namespace {

const importer known("Div", import_binary<dice::ops::div>);

}  // namespace
}  // namespace onnx2hpp
