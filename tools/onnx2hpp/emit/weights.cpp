#include "emit/weights.hpp"

#include "emit/sha256.hpp"

#include "dice/files/error.hpp"
#include "dice/version.hpp"
#include "dice/weights/file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <span>
#include <vector>

namespace onnx2hpp {

namespace {

constexpr std::int64_t alignment = 64;
constexpr std::size_t chunk = std::size_t{1} << 20;  ///< elements or bytes handled at once

std::int64_t aligned(std::int64_t n) { return (n + alignment - 1) / alignment * alignment; }

/// Equal keys mean equal bytes in the file. Constants are distinguished by address: two with equal numbers may differ after
/// another training, and the layout must stay the same. (Factors of rows are compared, since folding leaves only their
/// numbers.)
std::string identity(const parameter& p) {
  std::string key;
  const auto add = [&](const auto& x) { key.append(reinterpret_cast<const char*>(&x), sizeof x); };
  add(p.source.type);
  add(p.transposed);
  add(p.scale);
  add(p.source.bytes.data());
  add(p.source.bytes.size());
  for (double r : p.rows) add(r);
  if (p.transposed || !p.rows.empty())
    for (auto d : p.source.dims) add(d);
  return key;
}

using sink = std::function<void(std::span<const std::byte>)>;

/// Elements [first, first + count) of a constant.
constant part(const constant& c, std::size_t first, std::size_t count) {
  const auto width = size_of(c.type);
  return {c.type, {static_cast<std::int64_t>(count)}, c.bytes.subspan(first * width, count * width), c.owner};
}

void write_transposed(const parameter& p, const sink& out) {
  const auto rows = static_cast<std::size_t>(p.extents[1]), columns = static_cast<std::size_t>(p.extents[0]);
  const std::size_t block = std::clamp<std::size_t>(chunk / std::max<std::size_t>(rows, 1), 1, columns);
  std::vector<float> line(block), buffer(block * rows);
  for (std::size_t c = 0; c < columns; c += block) {
    const std::size_t count = std::min(block, columns - c);
    for (std::size_t r = 0; r < rows; ++r) {
      to_float32(p.source, static_cast<std::int64_t>(r * columns + c), std::span(line).first(count));
      for (std::size_t i = 0; i < count; ++i) {
        const double factor = p.rows.empty() ? p.scale : p.rows[c + i] * p.scale;
        buffer[i * rows + r] = factor == 1 ? line[i] : static_cast<float>(factor * static_cast<double>(line[i]));
      }
    }
    out(std::as_bytes(std::span(buffer).first(count * rows)));
  }
}

void write_parameter(const parameter& p, const sink& out) {
  if (p.transposed) return write_transposed(p, out);
  const bool as_is = p.scale == 1 && p.rows.empty();
  const auto size = static_cast<std::size_t>(p.source.elements());
  const std::size_t row = p.rows.empty() ? 1 : size / p.rows.size();
  std::vector<float> buffer;
  for (std::size_t at = 0; at < size; at += chunk) {
    const std::size_t count = std::min(chunk, size - at);
    const constant chunk = part(p.source, at, count);
    if (as_is && p.source.type == element::float32) {
      out(chunk.bytes);
      continue;
    }
    buffer.resize(count);
    if (as_is) {
      to_float32(chunk, 0, buffer);
    } else {
      const auto values = reals(chunk);
      for (std::size_t i = 0; i < count; ++i) {
        const double factor = p.rows.empty() ? p.scale : p.rows[(at + i) / row] * p.scale;
        buffer[i] = static_cast<float>(values[i] * factor);
      }
    }
    out(std::as_bytes(std::span(buffer)));
  }
}

/// The digests of all tensors.
std::vector<dice::weights::stored_tensor> digests(const weights_layout& layout) {
  std::vector<dice::weights::stored_tensor> out;
  for (const auto& t : layout.tensors) {
    sha256 hash;
    write_parameter(*t.source, [&](std::span<const std::byte> bytes) { hash.add(bytes); });
    out.push_back({t.name, t.offset, t.offset + t.bytes, hash.finish()});
  }
  return out;
}

/// Length and text of the header; the data section begins at a multiple of 64.
std::string file_header(const weights_layout& layout, const weights_origin& from, const std::string& model_digest,
                        std::span<const dice::weights::stored_tensor> stored) {
  nlohmann::ordered_json header;
  auto& metadata = header["__metadata__"] = {{"format", "dice"},
                                             {"dice_version", std::string(dice::version)},
                                             {"network", from.network},
                                             {"dice_structure", from.structure},
                                             {"dice_digest", dice::weights::digest_of(stored)},
                                             {"model_sha256", model_digest}};
  for (const auto& t : stored) metadata["sha256." + t.name] = t.sha256;
  std::int64_t end = 0;
  int gaps = 0;
  for (const auto& t : layout.tensors) {
    // Strict readers require every byte to belong to a tensor.
    if (t.offset > end)
      header["__pad_" + std::to_string(gaps++)] = {
          {"dtype", "U8"}, {"shape", {t.offset - end}}, {"data_offsets", {end, t.offset}}};
    end = t.offset + t.bytes;
    const auto& s = t.source->extents;
    header[t.name] = {
        {"dtype", "F32"}, {"shape", std::vector<std::int64_t>(s.dim, s.dim + s.rank)}, {"data_offsets", {t.offset, end}}};
  }
  std::string text = header.dump();
  text.resize(static_cast<std::size_t>(aligned(static_cast<std::int64_t>(text.size()) + 8)) - 8, ' ');
  const std::uint64_t size = text.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &size, 8);
  return out + text;
}

}  // namespace

weights_layout lay_out_weights(const network& net) {
  weights_layout out;
  std::map<std::string, std::int64_t> known;
  std::int64_t end = 0;
  for (const auto& l : net.layers) {
    out.offsets.emplace_back();
    for (const auto& p : l.parameters) {
      const auto [at, is_new] = known.emplace(identity(p), aligned(end));
      if (is_new) {
        const auto bytes = dice::tensor::type(p.extents).bytes();
        out.tensors.push_back({l.identifier + "." + p.role, at->second, bytes, &p});
        end = at->second + bytes;
      }
      out.offsets.back().push_back(at->second);
    }
  }
  out.bytes = end;
  return out;
}

namespace {

/// The data section from its first byte to its last.
void make_data(const weights_layout& layout, const sink& out) {
  static constexpr std::byte zeros[alignment]{};
  std::int64_t end = 0;
  for (const auto& t : layout.tensors) {
    if (t.offset > end) out(std::span(zeros).first(static_cast<std::size_t>(t.offset - end)));
    write_parameter(*t.source, out);
    end = t.offset + t.bytes;
  }
}

}  // namespace

dice::weights::block weights_data(const weights_layout& layout) {
  dice::weights::block out(layout.bytes);
  auto* to = out.data();
  make_data(layout, [&](std::span<const std::byte> bytes) { to = std::ranges::copy(bytes, to).out; });
  return out;
}

std::string write_weights(const weights_layout& layout, const weights_origin& from, dice::files::writer& out) {
  // The digests are at the beginning of the file, so they come first: the data is made twice, on two cores, and the header
  // written last. Its size is known, because all digests have one length.
  if (out.is_direct())
    throw dice::files::error(
        "'" + out.path() +
        "' cannot be written: weights need a regular file, since their digests, at its beginning, are known last");
  auto stored = std::async(std::launch::async, [&] { return digests(layout); });
  std::vector<dice::weights::stored_tensor> unknown;
  for (const auto& t : layout.tensors) unknown.push_back({t.name, t.offset, t.offset + t.bytes, std::string(64, '0')});
  out.write(file_header(layout, from, std::string(64, '0'), unknown));
  make_data(layout, [&](std::span<const std::byte> bytes) { out.write(bytes); });
  const auto known = stored.get();
  out.overwrite(0, file_header(layout, from, from.model_digest(), known));
  return dice::weights::digest_of(known);
}

}  // namespace onnx2hpp
