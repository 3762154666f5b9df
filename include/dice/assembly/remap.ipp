// --mapping: the network of a program under a mapping given at run time.
#pragma once

#include "dice/assembly/check_kernels.hpp"
#include "dice/assembly/remap.hpp"
#include "dice/placement/text/mistakes.hpp"
#include "dice/placement/text/parse.hpp"
#include "dice/runtime/layer_operators.hpp"
#include "dice/runtime/other_mapping.hpp"
#include "dice/runtime/program.hpp"
#include "dice/runtime/tasks.hpp"
#include "dice/runtime/usage_error.hpp"
#include "dice/schedule/dynamic_plan.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::assembly {

/// The mapping's text: `given` itself, or the content of the file of this name. Throws runtime::usage_error.
[[gnu::cold]] inline std::string mapping_text_of(std::string_view given) {
  if (placement::is_mapping_text(given)) return std::string(given);
  const auto fail = [&](const std::string& why) {
    throw runtime::usage_error("'" + std::string(given) + "' " + why +
                               "; write mapping<…> or split<…>, or name a file that contains it");
  };
  const auto require = [&](bool done) {
    if (!done) fail(std::string("cannot be read: ") + std::strerror(errno));
  };
  struct file {
    int number;
    ~file() {
      if (number >= 0) ::close(number);
    }
  } const in{::open(std::string(given).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  require(in.number >= 0);
  struct stat about {};
  require(::fstat(in.number, &about) == 0);
  pollfd it{in.number, POLLIN, 0};
  // The writer may open a pipe later than the reader; without a writer, reading ends at once.
  if (S_ISFIFO(about.st_mode)) ::poll(&it, 1, 2000);
  std::string text(placement::max_text + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto n = ::read(in.number, text.data() + size, text.size() - size);
    if (n == 0) break;
    if (n > 0) size += static_cast<std::size_t>(n);
    else if (errno == EAGAIN) ::poll(&it, 1, -1);
    else require(errno == EINTR);
  }
  if (S_ISFIFO(about.st_mode) && size == 0) fail("is a pipe that nobody wrote to");
  text.resize(size);
  if (text.size() > placement::max_text) fail("has more than " + std::to_string(placement::max_text) + " bytes");
  return text;
}

/// A program's network under another mapping.
class remapped final : public runtime::other_mapping {
 public:
  /// `given` is the mapping as text, or a file that has it. Throws runtime::usage_error, whose text does not name the
  /// option.
  [[gnu::cold]] remapped(const runtime::program& of, std::string_view given) : remapped(of, given, parsed(of, given)) {}
  remapped(const remapped&) = delete;
  remapped& operator=(const remapped&) = delete;

  const runtime::program& program() const override { return program_; }
  std::span<const platform::device> devices() const override { return plan_.devices(); }

 private:
  remapped(const runtime::program& of, std::string_view given, placement::text_mapping mapping)
      : mapping_(std::move(mapping)),
        operators_(runtime::operators_of(*of.tables)),
        plan_(of.tables->net, mapping_.values(), of.tables->algorithms, {operators_.data(), operators_.size()},
              of.tables->parameters),
        program_(of) {
    require(plan_.mistake(), given);
    const auto& layers = *of.tables;
    const auto plan = plan_.view();
    const auto& parts = plan_.parts();
    require(check_kernels(plan, parts, plan_.devices(), [&](auto by, int layer) { return layers.computes(by, layer); }),
            given);
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      const int anchor = plan.groups[g].anchor;
      kernels_.push_back(layers.kernel(plan_.backend_of(plan.groups[g]), parts, anchor, plan_.algorithms()[g]));
      parameters_.push_back(layers.parameters_of(parts, anchor));
    }
    for (const auto& o : plan.operands) stored_.push_back(o.stored());
    runtime::add_plan(kernels_, stored_, plan, parts.net);
    const auto units = plan_.units();
    program_.layers = parts.net;
    program_.parts = parts.parts;
    program_.whole_layers = layers.net;
    program_.mapping = mapping_.values();
    program_.plan = plan;
    program_.kernels = kernels_;
    program_.parameters = parameters_;
    program_.units = units;
    program_.cores = plan_.cores();
    program_.hosts = plan_.hosts();
    program_.open = layers.open;
    program_.convert = layers.convert;
    program_.here = {};              // a program that accepts this has the kernels of all layers
    program_.pack_at_start = false;  // the file next to the program is for its own mapping
  }

  static placement::text_mapping parsed(const runtime::program& of, std::string_view given) {
    const auto text = mapping_text_of(given);
    try {
      return placement::parse(text, of.network, of.tables->net);
    } catch (const placement::mapping_error& e) {
      throw runtime::usage_error(place_of(given) + e.what());
    }
  }
  /// The file that an error names, if the mapping is in one.
  static std::string place_of(std::string_view given) {
    return placement::is_mapping_text(given) ? "" : "'" + std::string(given) + "': ";
  }
  void require(const placement::finding& mistake, std::string_view given) const {
    if (mistake) throw runtime::usage_error(place_of(given) + placement::tell(mapping_, mistake));
  }

  placement::text_mapping mapping_;
  std::vector<graph::any_operator> operators_;
  schedule::dynamic_plan plan_;
  std::vector<kernels::entry> kernels_;
  std::vector<meta::view<graph::parameter>> parameters_;
  std::vector<tensor::storage> stored_;
  runtime::program program_;
};

DICE_API runtime::owned_mapping remap(const runtime::program& own, std::string_view given) {
  return {std::make_unique<const remapped>(own, given)};
}

}  // namespace dice::assembly
