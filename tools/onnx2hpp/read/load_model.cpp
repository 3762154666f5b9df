#include "diagnostics.hpp"
#include "read/external_data.hpp"
#include "read/model.hpp"
#include "read/wire.hpp"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/unknown_field_set.h>
#include <onnx/onnx_pb.h>

#include <charconv>
#include <cstring>
#include <limits>
#include <set>

namespace onnx2hpp {

namespace {

/// Members that libonnx 1.12 does not know yet lie in the message's unknown fields.
template <class Message, class Use> void unknown_field(const Message& m, int number, Use use) {
  const auto& fields = m.unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i)
    if (fields.field(i).number() == number &&
        fields.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      use(fields.field(i).length_delimited());
}

template <class Message> std::string overload_of(const Message& m, int number) {
  std::string out;
  if constexpr (requires { m.overload(); }) out = m.overload();
  else unknown_field(m, number, [&](const std::string& s) { out = s; });
  return out;
}

template <class Strings> std::vector<std::string> strings_of(const Strings& s) { return {s.begin(), s.end()}; }

/// "ai.onnx" is another name of the standard domain.
std::string domain_of(const std::string& name) { return name == "ai.onnx" ? "" : name; }

template <class Stored, class Values>
constant fill(element type, std::vector<std::int64_t> dims, std::size_t n, const Values& values) {
  if (static_cast<std::size_t>(values.size()) != n)
    throw file_error(fmt::format("it holds {} elements where its shape needs {}", values.size(), n));
  std::vector<std::byte> bytes(n * sizeof(Stored));
  for (std::size_t i = 0; i < n; ++i) {
    const auto v = static_cast<Stored>(values[static_cast<int>(i)]);
    std::memcpy(bytes.data() + i * sizeof(Stored), &v, sizeof(Stored));
  }
  return make_constant(type, std::move(dims), std::move(bytes));
}

/// Bytes of `n` elements in a file.
std::size_t packed_bytes(element type, std::size_t n) {
  const auto bits = static_cast<std::size_t>(packed_bits(type));
  return bits ? (n * bits + 7) / 8 : n * size_of(type);
}

/// `described` with the elements that the message lists one by one.
constant typed(const onnx::TensorProto& t, constant described) {
  const auto type = described.type;
  auto& dims = described.dims;
  const auto n = static_cast<std::size_t>(element_count(dims));
  switch (type) {
    case element::float32:
      return fill<float>(type, std::move(dims), n, t.float_data());
    case element::float64:
      return fill<double>(type, std::move(dims), n, t.double_data());
    case element::int64:
      return fill<std::int64_t>(type, std::move(dims), n, t.int64_data());
    case element::uint64:
      return fill<std::uint64_t>(type, std::move(dims), n, t.uint64_data());
    case element::uint32:
      return fill<std::uint32_t>(type, std::move(dims), n, t.uint64_data());
    case element::int32:
      return fill<std::int32_t>(type, std::move(dims), n, t.int32_data());
    case element::int16:
    case element::uint16:
    case element::float16:
    case element::bfloat16:
      return fill<std::uint16_t>(type, std::move(dims), n, t.int32_data());
    case element::int4:
    case element::uint4:
    case element::int2:
    case element::uint2: {
      const auto packed = fill<std::uint8_t>(type, {}, packed_bytes(type, n), t.int32_data());
      return unpacked(type, std::move(dims), packed.bytes);
    }
    default:
      return fill<std::uint8_t>(type, std::move(dims), n, t.int32_data());
  }
}

/// The element type and shape of a tensor; `bytes` is set to what it needs.
constant described(const onnx::TensorProto& t, std::uint64_t& bytes) {
  constant out;
  out.type = static_cast<element>(t.data_type());
  out.dims = {t.dims().begin(), t.dims().end()};
  if (size_of(out.type) == 0) throw unsupported_tensor("its element type " + name_of(out.type) + " is not supported");
  if (t.has_segment()) throw unsupported_tensor("it is stored in segments, which ONNX no longer supports");
  if (out.dims.size() > max_axes) throw unsupported_tensor(fmt::format("it has {} axes", out.dims.size()));
  const auto n = element_count(out.dims);
  if (n < 0) throw file_error("its shape is impossible");
  bytes = packed_bytes(out.type, static_cast<std::size_t>(n));
  return out;
}

void require_bytes(std::uint64_t found, std::uint64_t needed) {
  if (found != needed) throw file_error(fmt::format("it holds {} bytes where its shape needs {}", found, needed));
}

/// Appends the values that a subgraph reads of the graphs around it.
void add_captured(const onnx::GraphProto& g, std::vector<std::string>& out) {
  std::set<std::string> own;
  std::vector<std::string> read = {};
  for (const auto& v : g.input()) own.insert(v.name());
  for (const auto& t : g.initializer()) own.insert(t.name());
  for (const auto& t : g.sparse_initializer()) own.insert(t.values().name());
  for (const auto& n : g.node()) {
    own.insert(n.output().begin(), n.output().end());
    read.insert(read.end(), n.input().begin(), n.input().end());
    for (const auto& a : n.attribute())
      if (a.has_g()) add_captured(a.g(), read);
  }
  for (const auto& v : g.output()) read.push_back(v.name());
  for (auto& name : read)
    if (!name.empty() && !own.contains(name)) out.push_back(std::move(name));
}

class loader {
 public:
  explicit loader(const std::filesystem::path& path) : external_(path) {
    out_.file = std::make_shared<const file_map>(path);
  }

  model load() {
    if (is_lfs_pointer(out_.file->bytes()))
      throw file_error("it is only a pointer of git-lfs; fetch the model itself: git lfs pull in its folder");
    const std::string bytes = skeleton(out_.file->bytes());
    onnx::ModelProto proto;
    // Errors are reported below, in our own words.
    const google::protobuf::LogSilencer silent;
    if (bytes.size() > std::numeric_limits<int>::max()) throw file_error("its graph (without its tensors) is over 2 GiB");
    if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      throw file_error("it is not an ONNX model, or it is damaged");
    if (!proto.has_graph()) throw file_error("it is not an ONNX model: it holds no graph");
    out_.ir_version = proto.ir_version();
    read_opsets(proto.opset_import(), out_.opsets);
    read(proto.graph());
    for (const auto& f : proto.functions()) read(f);
    out_.external_files = external_.files();
    return std::move(out_);
  }

 private:
  template <class Imports> static void read_opsets(const Imports& imports, opset_versions& out) {
    for (const auto& i : imports) {
      auto& version = out[domain_of(i.domain())];
      version = std::max<std::int64_t>(version, i.version());
    }
  }

  void read(const onnx::GraphProto& g) {
    const auto keep = [&](const std::string& name, const auto& t) {
      if (!name.empty()) out_.initializer_names.push_back(name);  // nobody can read one without a name
      out_.initializers[name] = read(t);
    };
    for (const auto& t : g.initializer()) keep(t.name(), t);
    for (const auto& t : g.sparse_initializer()) keep(t.values().name(), t);
    for (const auto& n : g.node()) out_.nodes.push_back(read(n, out_.opsets));
    for (const auto& v : g.input())
      if (!out_.initializers.contains(v.name())) out_.inputs.push_back(read(v));
    for (const auto& v : g.output()) out_.outputs.push_back(read(v));
    for (const auto& v : g.value_info()) out_.values[v.name()] = read(v);
    for (const auto& v : g.output()) out_.values[v.name()] = read(v);
  }

  void read(const onnx::FunctionProto& f) {
    function out;
    out.name = f.name();
    out.domain = domain_of(f.domain());
    out.overload = overload_of(f, 13);
    out.inputs = strings_of(f.input());
    out.outputs = strings_of(f.output());
    out.attributes = strings_of(f.attribute());
    read_defaults(f, out);
    opset_versions opsets;
    read_opsets(f.opset_import(), opsets);
    if (opsets.empty()) opsets = out_.opsets;
    for (const auto& n : f.node()) out.nodes.push_back(read(n, opsets));
    out_.functions.push_back(std::move(out));
  }

  template <class Function> void read_defaults(const Function& f, function& out) {
    if constexpr (requires { f.attribute_proto(); }) {
      for (const auto& a : f.attribute_proto()) out.defaults[a.name()] = read(a, out_.opsets);
    } else {
      unknown_field(f, 11, [&](const std::string& bytes) {
        onnx::AttributeProto a;
        if (!a.ParseFromString(bytes))
          throw file_error("it is not an ONNX model, or it is damaged (a function's attribute)");
        out.defaults[a.name()] = read(a, out_.opsets);
      });
    }
  }

  node read(const onnx::NodeProto& n, const opset_versions& opsets) {
    node out;
    out.name = n.name();
    out.operator_name = n.op_type();
    out.domain = domain_of(n.domain());
    out.overload = overload_of(n, 8);
    out.inputs = strings_of(n.input());
    out.outputs = strings_of(n.output());
    for (const auto& a : n.attribute()) {
      out.attributes[a.name()] = read(a, opsets);
      if (a.has_g()) add_captured(a.g(), out.captured);
    }
    const auto version = opsets.find(out.domain);
    out.opset = version == opsets.end() ? 0 : version->second;
    return out;
  }

  attribute read(const onnx::AttributeProto& a, const opset_versions& opsets) {
    using kind = attribute::kind;
    attribute out;
    out.refers_to = a.ref_attr_name();
    out.f = a.f();
    out.i = a.i();
    out.s = a.s();
    out.floats = {a.floats().begin(), a.floats().end()};
    out.ints = {a.ints().begin(), a.ints().end()};
    out.strings = strings_of(a.strings());
    switch (a.type()) {
      case onnx::AttributeProto::FLOAT:
        out.type = kind::real;
        break;
      case onnx::AttributeProto::INT:
        out.type = kind::integer;
        break;
      case onnx::AttributeProto::STRING:
        out.type = kind::text;
        break;
      case onnx::AttributeProto::FLOATS:
        out.type = kind::reals;
        break;
      case onnx::AttributeProto::INTS:
        out.type = kind::integers;
        break;
      case onnx::AttributeProto::STRINGS:
        out.type = kind::texts;
        break;
      case onnx::AttributeProto::TENSOR:
        out.type = kind::tensor;
        break;
      case onnx::AttributeProto::SPARSE_TENSOR:
        out.type = kind::tensor;
        break;
      case onnx::AttributeProto::GRAPH:
        out.type = kind::graph;
        break;
      case onnx::AttributeProto::UNDEFINED:  // exporters of IR versions 1 and 2 write no type
        out.type = a.has_f()          ? kind::real
                   : a.has_i()        ? kind::integer
                   : a.has_s()        ? kind::text
                   : a.has_t()        ? kind::tensor
                   : a.has_g()        ? kind::graph
                   : a.ints_size()    ? kind::integers
                   : a.floats_size()  ? kind::reals
                   : a.strings_size() ? kind::texts
                                      : kind::none;
        break;
      default:
        out.type = kind::other;
    }
    if (out.type == kind::tensor) out.t = a.has_sparse_tensor() ? read(a.sparse_tensor()) : read(a.t());
    if (out.type == kind::graph) out.g = inner(a.g(), opsets);
    return out;
  }

  std::shared_ptr<const subgraph> inner(const onnx::GraphProto& g, const opset_versions& opsets) {
    const auto out = std::make_shared<subgraph>();
    for (const auto& t : g.initializer()) out->initializers[t.name()] = read(t);
    for (const auto& t : g.sparse_initializer()) out->initializers[t.values().name()] = read(t);
    for (const auto& v : g.input()) out->inputs.push_back(v.name());
    for (const auto& v : g.output()) out->outputs.push_back(v.name());
    for (const auto& n : g.node()) out->nodes.push_back(read(n, opsets));
    return out;
  }

  value_info read(const onnx::ValueInfoProto& v) {
    value_info out;
    out.name = v.name();
    out.tensor = v.type().has_tensor_type();
    const auto& t = v.type().tensor_type();
    out.type = static_cast<element>(t.elem_type());
    if (out.tensor && t.has_shape()) {
      out.shape.emplace();
      for (const auto& d : t.shape().dim())
        out.shape->push_back({d.has_dim_value() ? d.dim_value() : -1, d.has_dim_param() ? d.dim_param() : ""});
    }
    return out;
  }

  /// The tensor that `reader` returns; or, if it fails, the reason, with a tensor of the type and shape `expected`.
  template <class Reader> static stored_tensor stored(constant expected, Reader reader) {
    try {
      return {reader()};
    } catch (const unusable_file& e) {
      return {std::move(expected), e.what(), e.remedy, e.name};
    } catch (const unsupported_tensor& e) {
      return {std::move(expected), e.what()};
    } catch (const file_error& e) {
      return {std::move(expected), e.what(), "export the model again"};
    }
  }

  static constant expected(int type, const auto& dims) {
    return {static_cast<element>(type), {dims.begin(), dims.end()}, {}, {}};
  }

  stored_tensor read(const onnx::TensorProto& t) {
    return stored(expected(t.data_type(), t.dims()), [&] { return tensor(t); });
  }

  constant tensor(const onnx::TensorProto& t) {
    std::uint64_t size = 0;
    constant out = described(t, size);
    if (t.data_location() == onnx::TensorProto::EXTERNAL) {
      external(t, size, out);
    } else if (t.has_raw_data()) {
      blob b;
      require_bytes(read_blob(t.raw_data(), b) ? b.size : 0, size);
      const auto bytes = out_.file->bytes();
      if (b.offset > bytes.size() || b.size > bytes.size() - b.offset) throw file_error("its data lies outside the file");
      out.bytes = bytes.subspan(b.offset, b.size);
      out.owner = out_.file;
    } else {
      return typed(t, std::move(out));
    }
    return packed_bits(out.type) ? unpacked(out.type, std::move(out.dims), out.bytes) : out;
  }

  void external(const onnx::TensorProto& t, std::uint64_t size, constant& out) {
    std::string location;
    std::uint64_t offset = 0, length = size;
    const auto number = [](const std::string& key, const std::string& text) {
      std::uint64_t n = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
      if (error != std::errc() || end != text.data() + text.size())
        throw file_error(fmt::format("its external data has an invalid {} {}", key, quote(text)));
      return n;
    };
    for (const auto& e : t.external_data()) {
      if (e.key() == "location") location = e.value();
      if (e.key() == "offset") offset = number("offset", e.value());
      if (e.key() == "length") length = number("length", e.value());
    }
    if (length != size)
      throw file_error(fmt::format("its external data holds {} bytes where its shape needs {}", length, size));
    const auto file = external_.open(location);
    const auto bytes = file->bytes();
    if (offset > bytes.size() || length > bytes.size() - offset)
      throw unusable_file(location, fmt::format("has only {} bytes", bytes.size()),
                          "copy the whole file from where the model was exported");
    out.bytes = bytes.subspan(offset, length);
    out.owner = file;
  }

  stored_tensor read(const onnx::SparseTensorProto& s) {
    return stored(expected(s.values().data_type(), s.dims()), [&] { return sparse(s); });
  }

  /// The dense tensor of a sparse one: `indices` are positions (n) or coordinates (n, rank).
  constant sparse(const onnx::SparseTensorProto& s) {
    const constant values = tensor(s.values()), indices = tensor(s.indices());
    const std::vector<std::int64_t> dims{s.dims().begin(), s.dims().end()};
    const auto n = element_count(dims), count = values.elements();
    const auto rank = static_cast<std::int64_t>(dims.size());
    const bool linear = indices.rank() == 1;
    if (n < 0 || dims.size() > max_axes || values.rank() != 1 || indices.type != element::int64 ||
        indices.elements() != (linear ? count : count * rank))
      throw file_error("it is a sparse tensor whose parts do not match");
    const auto width = size_of(values.type);
    dense_bytes_ += n * static_cast<std::int64_t>(width);
    if (dense_bytes_ > max_dense_bytes) throw unsupported_tensor("the model's sparse tensors take over 1 GiB when dense");
    std::vector<std::byte> bytes(static_cast<std::size_t>(n) * width);
    const auto at = integers(indices);
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t position = linear ? at[k] : 0;
      for (std::int64_t a = 0; !linear && a < rank; ++a) {
        const auto i = at[k * rank + a];
        if (i < 0 || i >= dims[a]) throw file_error("it is a sparse tensor with an index out of range");
        position = position * dims[a] + i;
      }
      if (position < 0 || position >= n) throw file_error("it is a sparse tensor with an index out of range");
      std::memcpy(bytes.data() + static_cast<std::size_t>(position) * width,
                  values.bytes.data() + static_cast<std::size_t>(k) * width, width);
    }
    return make_constant(values.type, dims, std::move(bytes));
  }

  static constexpr std::int64_t max_dense_bytes = std::int64_t{1} << 30;
  std::int64_t dense_bytes_ = 0;
  external_data external_;
  model out_;
};

}  // namespace

model load_model(const std::filesystem::path& path) {
  loader from(path);
  try {
    return from.load();
  } catch (const file_error& e) {
    throw file_error(fmt::format("{}: {}", quote(path.string()), e.what()));
  }
}

constant load_tensor(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& why) {
    throw file_error(fmt::format("{}: {}; write it with onnx.save_tensor", quote(path.string()), why));
  };
  const file_map file(path);
  onnx::TensorProto t;
  const google::protobuf::LogSilencer silent;
  const auto size = file.bytes().size();
  if (size > std::numeric_limits<int>::max() || !t.ParseFromArray(file.bytes().data(), static_cast<int>(size)) ||
      t.data_type() == onnx::TensorProto::UNDEFINED)
    fail("it is not an ONNX tensor (TensorProto), or it is damaged");
  try {
    std::uint64_t needed = 0;
    constant out = described(t, needed);
    if (t.data_location() == onnx::TensorProto::EXTERNAL) throw file_error("its data is in another file");
    if (!t.has_raw_data()) return typed(t, std::move(out));
    require_bytes(t.raw_data().size(), needed);
    const auto bytes = std::as_bytes(std::span(t.raw_data()));
    if (packed_bits(out.type)) return unpacked(out.type, std::move(out.dims), bytes);
    return make_constant(out.type, std::move(out.dims), std::vector(bytes.begin(), bytes.end()));
  } catch (const file_error& e) {
    fail(e.what());
  }
  return {};
}

}  // namespace onnx2hpp
