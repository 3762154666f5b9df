// onnx2hpp: an ONNX network as a C++ header.
#include "emit/emit.hpp"
#include "emit/operators.hpp"
#include "emit/sha256.hpp"
#include "expect/comparison.hpp"
#include "graph/convert.hpp"
#include "graph/names.hpp"
#include "options.hpp"
#include "read/model.hpp"

#include "dice/files/interrupts.hpp"
#include "dice/files/place.hpp"
#include "dice/files/standard_streams.hpp"
#include "dice/files/writer.hpp"
#include "dice/text/print.hpp"

#include <fmt/format.h>

#include <future>
#include <new>
#include <optional>

namespace onnx2hpp {

namespace {

namespace fs = std::filesystem;

/// A path as make reads it. Throws usage_error if it cannot.
std::string for_make(const fs::path& path) {
  std::string out;
  for (char c : path.string()) {
    if (c == '\n' || c == '\r')
      throw usage_error(fmt::format("--depfile: make cannot read the name {}, which holds a line break; rename this file",
                                    quote(path.string())));
    if (c == ' ' || c == '#' || c == '\\' || c == ':') out += '\\';
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

std::vector<fs::path> files_read(const options& opts, const model& m, const std::vector<file_set>& expected) {
  std::vector<fs::path> out{opts.model};
  out.insert(out.end(), m.external_files.begin(), m.external_files.end());
  if (!opts.mapping.empty()) out.insert(out.end(), {opts.mapping, opts.platform});
  out.insert(out.end(), opts.profiles.begin(), opts.profiles.end());
  for (const auto& set : expected)
    for (const auto& f : set) out.push_back(f.path);
  return out;
}

std::string dependencies(const fs::path& header, const std::vector<fs::path>& files) {
  std::string out = for_make(header) + ":";
  for (const auto& f : files) out += " \\\n  " + for_make(f);
  return out + "\n";
}

/// In a build, by CMake's dice_add_network: how options of `text` are written there. Otherwise "".
std::string words_of_cmake(const options& opts, const std::string& text) {
  if (opts.depfile.empty()) return "";
  std::string out;
  for (const auto& [option, word] : {std::pair{"-i", "INPUT"}, {"-d", "DIM"}, {"--outputs", "OUTPUTS"}})
    if (text.find(std::string(option) + " ") != std::string::npos || text.starts_with(std::string(option) + ":"))
      out += fmt::format("{}{} in place of {}", out.empty() ? "in CMake, dice_add_network takes " : ", ", word, option);
  return out;
}

void make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (!fs::is_directory(folder))
    throw file_error(fmt::format("cannot create the folder {}: {}", quote(folder.string()), failed.message()));
}

/// Throws usage_error if a file to write is also read, or would be written twice.
void require_different(const options& opts, const std::string& name, const std::vector<fs::path>& read) {
  std::vector<dice::files::use> uses;
  for (const auto& file : read) uses.push_back(dice::files::reads(file.string()));
  const auto add = [&](const fs::path& path) { uses.push_back(dice::files::writes(path.string())); };
  for (const char* extension : {".hpp", ".safetensors", ".json"}) add(opts.folder / (name + extension));
  if (!opts.mapping.empty()) add(opts.folder / (name + "_mapping.hpp"));
  if (!opts.profiles.empty()) add(opts.folder / (name + "_profile.hpp"));
  if (!opts.dot.empty()) add(opts.dot);
  if (!opts.depfile.empty()) add(opts.depfile);
  if (const auto wrong = dice::files::conflict(uses); !wrong.empty()) throw usage_error(wrong);
}

void write_all(const options& opts, const model& m, const network& net, const std::string& name,
               const std::vector<fs::path>& read, const comparison* compared, const messages& out) {
  // Two hashes over hundreds of megabytes: the model's in its own thread, the weights' while they are written.
  const std::shared_future<std::string> model_digest = std::async(std::launch::async, [&] {
    sha256 hash;
    hash.add(m.file->bytes());
    return hash.finish();
  });
  const auto layout = lay_out_weights(net);
  const auto structure = structure_digest(net, layout);
  std::vector<problem> problems;
  std::vector<mapped_rank> ranks;
  profile measured;
  if (!opts.mapping.empty()) ranks = read_mapping(opts.mapping, opts.platform, net, problems);
  if (!opts.profiles.empty()) measured = read_profiles(opts.profiles, net, structure, problems);
  if (!problems.empty()) throw conversion_error(std::move(problems), "is not converted");
  make_folder(opts.folder);
  std::vector<std::unique_ptr<dice::files::writer>> files;
  const auto open = [&](const fs::path& path) -> dice::files::writer& {
    return *files.emplace_back(std::make_unique<dice::files::writer>(path.string()));
  };
  const fs::path header = opts.folder / (name + ".hpp");
  const auto content = write_weights(layout, {name, structure, [&] { return model_digest.get(); }},
                                     open(opts.folder / (name + ".safetensors")));
  open(opts.folder / (name + ".json")).write(emit_report(net, name, compared));
  if (!opts.dot.empty()) open(opts.dot).write(emit_dot(net, name));
  if (!opts.depfile.empty()) open(opts.depfile).write(dependencies(header, read));
  const auto digest = model_digest.get();
  if (!opts.mapping.empty()) open(opts.folder / (name + "_mapping.hpp")).write(emit_mapping(net, ranks, name, digest));
  if (!opts.profiles.empty()) open(opts.folder / (name + "_profile.hpp")).write(emit_profile(measured, name, digest));
  // The header comes last: a program that waits for it finds all other files.
  open(header).write(emit_header(net, layout, name, digest, opts.pin_weights ? content : ""));
  for (auto& f : files) f->finish();
  dice::files::interrupts::let_finish();  // they belong together
  dice::files::commit_all(files);
  for (const auto& f : files) out.detail("wrote " + f->path());
}

int run(int argc, char** argv) {
  const dice::files::interrupts ends("onnx2hpp: error: ", "");
  options opts = read_options(argc, argv);
  if (opts.done) return opts.exit_code;
  const messages out(opts.level);
  try {
    const auto expected = find_tensor_files(opts.expected);
    const model m = load_model(opts.model);
    opts.settings.outputs = read_outputs(opts.outputs, m);
    network net = convert(m, opts.settings, out);
    name_layers(net);
    const std::string name = opts.name.empty() ? namespace_for(opts.model.stem().string()) : opts.name;
    out.detail(fmt::format("{} layers, namespace {}", net.layers.size(), name));
    const auto read = files_read(opts, m, expected);
    if (opts.list) fmt::print("{}", emit_list(net));
    else require_different(opts, name, read);
    std::optional<comparison> compared;
    if (!opts.expected.empty()) {
      compared = compare(expected, m, net, opts.tolerance, out);
      if (opts.level != verbosity::quiet) fmt::print("{}", text_of(*compared));
      dice::text::require_printed();  // before messages about it
      require_agreement(*compared, net);
    }
    if (!opts.list) write_all(opts, m, net, name, read, compared ? &*compared : nullptr, out);
    return 0;
  } catch (const conversion_error& e) {
    out.error(e, quote(opts.model.string()));
    auto remedies = e.remedy;
    for (const auto& p : e.problems) remedies += " " + p.remedy;
    if (const auto words = words_of_cmake(opts, remedies); !words.empty()) out.remedy(words);
    if (const auto names = operators_of(e.problems); !names.empty())
      out.note(fmt::format("onnx2hpp --list-operators {} prints what is read of {} (docs/operators.md)", names,
                           names.find(',') == std::string::npos ? "it" : "them"));
    return 1;
  } catch (const usage_error& e) {
    out.error(e.what());
    if (const auto words = words_of_cmake(opts, e.what()); !words.empty()) out.remedy(words);
    return 2;
  }
}

}  // namespace
}  // namespace onnx2hpp

int main(int argc, char** argv) {
  dice::files::occupy_standard_streams();
  const onnx2hpp::messages out(onnx2hpp::verbosity::normal);
  try {
    const int code = onnx2hpp::run(argc, argv);
    dice::text::require_printed();
    dice::files::require_stored();
    return code;
  } catch (const onnx2hpp::usage_error& e) {
    out.error(e.what());
    return 2;
  } catch (const std::bad_alloc&) {
    out.error("out of memory");
    return 1;
  } catch (const std::exception& e) {
    out.error(e.what());
    return 1;
  }
}
