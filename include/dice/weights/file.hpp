#pragma once

#include "dice/files/error.hpp"
#include "dice/files/mapped.hpp"
#include "dice/files/sha256.hpp"
#include "dice/graph/network.hpp"
#include "dice/weights/detail/json.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::weights {

/// A tensor of a weights file: bytes [begin, end) of its data, and their SHA-256.
struct stored_tensor {
  std::string name;
  std::int64_t begin = 0, end = 0;
  std::string sha256;
};

/// The content digest of a weights file: SHA-256 of a line for each tensor, in the order of the data. So this digest vouches
/// for the digests of all tensors in the file's header.
[[gnu::cold]] inline std::string digest_of(std::span<const stored_tensor> all) {
  files::sha256 out;
  for (const auto& t : all)
    out.add(t.name + ' ' + std::to_string(t.begin) + ' ' + std::to_string(t.end) + ' ' + t.sha256 + '\n');
  return out.text();
}

/// Whether a file begins like a safetensors file: the length of its header, which is JSON.
[[gnu::cold]] inline bool begins_like_weights(const files::opened& in) {
  unsigned char first[9];
  if (in.size() < 10 || !in.read(first, sizeof first, 0) || first[8] != '{') return false;
  std::uint64_t header = 0;
  for (int i = 7; i >= 0; --i) header = header << 8 | first[i];
  return header >= 2 && header <= static_cast<std::uint64_t>(in.size() - 8);
}

/// Whether a text is a SHA-256 in hexadecimal.
inline bool is_digest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}
/// The digits of a digest that messages show.
inline std::string shown_digest(std::string_view digest) { return std::string(digest.substr(0, 16)) + "…"; }

/// An open weights file whose identity was checked: header sane; structure, size and pinned content as the network states;
/// the digests of the tensors, if there are any, those that onnx2hpp wrote.
class file {
 public:
  /// Opens `path` for the network `network` whose header states `wanted`. `option`: what users name the file with. Throws
  /// files::error.
  file(std::string path, std::string_view network, const graph::weights_file& wanted,
       const std::string& option = "--weights")
      : in_("weights file", std::move(path), "name the .safetensors file that onnx2hpp wrote",
            "; give " + option + " the .safetensors file that onnx2hpp wrote") {
    check(network, wanted);
  }

  const std::string& path() const { return in_.path(); }
  /// The digest of its tensors, different for every training.
  const std::string& content() const { return content_; }
  /// SHA-256 of the model's file.
  const std::string& model_digest() const { return model_digest_; }
  std::int64_t data_bytes() const { return bytes_; }
  /// As the header lists them, in the order of the data. Throws files::error unless their digests give content().
  [[gnu::cold]] const std::vector<stored_tensor>& tensors() const {
    check_digests();
    return tensors_;
  }

  /// Reads a tensor and compares it with its digest. Throws files::error.
  [[gnu::cold]] void verify(const stored_tensor& t) const {
    const std::byte* start = nullptr;
    const auto pages = map(t.begin, t.end, start);
    files::sha256 found;
    found.add(std::span(start, static_cast<std::size_t>(t.end - t.begin)));
    if (found.text() != t.sha256)
      fail("is damaged: tensor '" + t.name + "' differs from what onnx2hpp wrote; copy the file again");
  }

  /// Maps bytes [from, to) of the data section, extended to whole pages. Sets `start` to where `from` lies. Throws
  /// files::error.
  files::mapped map(std::int64_t from, std::int64_t to, const std::byte*& start) const {
    return in_.map(data_ + from, data_ + to, start);
  }

 private:
  static constexpr std::int64_t longest_header = std::int64_t{256} << 20;

  [[noreturn]] void fail(const std::string& why) const { in_.fail(why); }

  [[gnu::cold]] void check_digests() const {
    if (digest_of(tensors_) != content_)
      fail(
          "is damaged, or was not written by this onnx2hpp: the digests of its tensors do not give the file's digest; copy "
          "it again, or let onnx2hpp write it again");
  }

  [[gnu::cold]] void check(std::string_view network, const graph::weights_file& wanted) {
    const std::int64_t size = in_.size();
    unsigned char length[8];
    if (size < 10 || !in_.read(length, 8, 0))
      fail("is not a safetensors file: it has " + std::to_string(size) + " bytes; take the one that onnx2hpp wrote");
    std::uint64_t header = 0;
    for (int i = 7; i >= 0; --i) header = header << 8 | length[i];
    if (header < 2 || header > static_cast<std::uint64_t>(longest_header))
      fail("is not a safetensors file: its header would have " + std::to_string(header) +
           " bytes; take the one that onnx2hpp wrote");
    if (static_cast<std::int64_t>(header) > size - 8)
      fail("is cut short, or is not a safetensors file: its header should have " + std::to_string(header) +
           " bytes, the file has " + std::to_string(size) + "; copy it again, or take the one that onnx2hpp wrote");
    std::string text(header, '\0');
    if (!in_.read(text.data(), text.size(), 8)) fail(std::string("cannot be read: ") + std::strerror(errno));
    auto found = detail::read_header(text);
    if (!found) fail("is not a safetensors file: its header is damaged; copy it again, or let onnx2hpp write it again");
    const std::string remedy = "; take the " + std::string(wanted.file) + " that onnx2hpp wrote together with the header";
    auto& about = found->metadata;
    if (about["dice_digest"].empty()) fail("was not written by onnx2hpp: its header has no dice_digest" + remedy);
    if (about["dice_structure"].empty())
      fail("was written by an older onnx2hpp: its header has no dice_structure; let onnx2hpp write it again");
    for (const char* name : {"dice_structure", "dice_digest", "model_sha256"})
      if (!is_digest(about[name]))
        fail(std::string("is damaged: the ") + name + " in its header is not a SHA-256; copy it again");
    if (about["dice_structure"] != wanted.structure)
      fail("belongs to another network than " + std::string(network) + ": structure " +
           shown_digest(about["dice_structure"]) + ", expected " + shown_digest(wanted.structure) +
           "; export the same architecture in the same way, with the same onnx2hpp and options, or compile the program "
           "again");
    content_ = about["dice_digest"];
    model_digest_ = about["model_sha256"];
    if (!wanted.pinned.empty() && content_ != wanted.pinned)
      fail("has other weights than those to which the network " + std::string(network) + " is pinned: digest " +
           shown_digest(content_) + ", expected " + shown_digest(wanted.pinned) + remedy +
           ", or compile without --pin-weights");
    data_ = 8 + static_cast<std::int64_t>(header);
    bytes_ = wanted.bytes;
    if (size != data_ + bytes_)
      fail((size < data_ + bytes_ ? "is cut short: " : "is too long: ") + std::to_string(size) + " bytes, expected " +
           std::to_string(data_ + bytes_) + "; copy it again");
    for (auto& t : found->tensors)
      if (const auto sum = found->metadata.find("sha256." + t.name); sum != found->metadata.end())
        if (t.begin < t.end && t.end <= bytes_) tensors_.push_back({std::move(t.name), t.begin, t.end, sum->second});
    if (!tensors_.empty()) check_digests();  // another tool may have moved them: the program knows only where they lie
    if (data_ % 64) fail("has its data at byte " + std::to_string(data_) + ", not aligned to 64 bytes" + remedy);
  }

  files::opened in_;
  std::int64_t data_ = 0, bytes_ = 0;
  std::string content_, model_digest_;
  std::vector<stored_tensor> tensors_;
};

}  // namespace dice::weights
