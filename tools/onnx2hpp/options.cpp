#include "options.hpp"

#include "emit/operators.hpp"
#include "graph/names.hpp"

#include "dice/meta/nearest.hpp"
#include "dice/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>

namespace onnx2hpp {

namespace {

constexpr const char* examples = R"(
Writes NAME.hpp (layers as C++ types), NAME.safetensors (weights) and NAME.json (report) into DIR; with --mapping
also NAME_mapping.hpp (the mapping as NAME::mapped), with --profile also NAME_profile.hpp (the measurements, in
NAME_profile).

Examples:
  onnx2hpp vgg19.onnx
  onnx2hpp model.onnx --name resnet -o generated -d batch=1
  onnx2hpp model.onnx -i images:1x3x224x224
  onnx2hpp detector.onnx --list-layers --outputs /head/conv/Conv_output_0
  onnx2hpp vgg19.onnx --mapping mapping.json --platform platform.txt
  onnx2hpp vgg19.onnx --profile pi.json --profile jetson.json
  onnx2hpp model.onnx --expect input=in.npy --expect logits=out.npy
  onnx2hpp model.onnx --expect test_data_set_0
  onnx2hpp --list-operators Conv,Resize
  onnx2hpp vgg19.onnx --dot vgg19.dot && dot -Tsvg vgg19.dot -o vgg19.svg

--expect computes the network with plain, slow kernels: some 3 s for each frame and GMAC, so 50 s for VGG-16. Each core
computes a frame.

Exit codes: 0 done; 1 the model cannot be converted, differs from --expect, or a file cannot be used or written; 2 wrong
usage.)";

std::int64_t positive(const std::string& text, const char* option) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 1 || n > std::int64_t{1} << 32)
    throw usage_error(fmt::format("{}: expected a positive number, found {}", option, quote(text)));
  return n;
}

double tolerance_of(const std::string& text) {
  double x = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc() || end != text.data() + text.size() || !(x >= 0) || std::isinf(x))
    throw usage_error(fmt::format("--tolerance: expected a number from 0 on, such as 1e-4, found {}", quote(text)));
  return x;
}

/// name:1x3x224x224, split at the last colon.
std::pair<std::string, std::vector<std::int64_t>> read_input(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0)
    throw usage_error(fmt::format("-i: expected NAME:SHAPE such as input:1x3x224x224, found {}", quote(text)));
  if (text.find(',', colon) != std::string::npos)
    throw usage_error(fmt::format("-i: {}: write the shape as 1x3x224x224", quote(text)));
  std::vector<std::int64_t> dims;
  for (std::size_t at = colon + 1; at <= text.size();) {
    const auto end = std::min(text.find('x', at), text.size());
    dims.push_back(positive(text.substr(at, end - at), "-i"));
    at = end + 1;
  }
  if (dims.size() > dice::tensor::max_rank)
    throw usage_error(fmt::format("-i: a tensor has at most {} axes", dice::tensor::max_rank));
  return {text.substr(0, colon), dims};
}

/// The option that `word`, an unknown one, was probably meant to be, or "".
std::string meant(const CLI::App& app, std::string_view word) {
  dice::meta::nearest known(word.substr(std::min(word.find_first_not_of('-'), word.size())));
  for (const auto* option : app.get_options())
    for (const auto& name : option->get_lnames()) known.look_at(name);
  return std::string(known.best());
}

/// A message about words that no option takes: options that do not exist or else `extra`, the words that are left over, in
/// the order of the command line. "" if there are none.
std::string unexpected(const CLI::App& app, std::vector<std::string> extra, int argc, char** argv) {
  std::vector<std::string> unknown, rest;
  std::string guess;
  for (const std::string_view all : std::vector<std::string_view>(argv + std::min(argc, 1), argv + argc)) {
    const auto word = all.substr(0, all.find('='));
    const auto found = std::ranges::find(extra, all);
    const bool lacks_a_dash = word.size() > 2 && word[0] == '-' && app.get_option_no_throw("-" + std::string(word));
    if (lacks_a_dash || (found != extra.end() && word.size() > 1 && word[0] == '-')) {
      unknown.emplace_back(word);
      if (guess.empty()) guess = meant(app, word);
    } else if (found != extra.end()) {
      rest.emplace_back(all);
    }
    if (found != extra.end()) extra.erase(found);
  }
  const auto& words = unknown.empty() ? rest : unknown;
  if (words.empty()) return {};
  std::vector<std::string> quoted;
  for (const auto& word : words) quoted.push_back(quote(word));
  return fmt::format("{}{} {} ({})", unknown.empty() ? "unexpected argument" : "unknown option", words.size() > 1 ? "s" : "",
                     fmt::join(quoted, ", "),
                     guess.empty() ? "see onnx2hpp --help" : fmt::format("did you mean --{}?", guess));
}

}  // namespace

options read_options(int argc, char** argv) {
  options out;
  std::string model, folder = ".", dot, depfile, mapping, platform, tolerance;
  std::vector<std::string> inputs, dimensions, profiles;
  bool no_fold = false, quiet = false, verbose = false;
  CLI::App app("Turns an ONNX network into a C++ header for dice.", "onnx2hpp");
  app.footer(examples);
  app.set_version_flag("--version", fmt::format("onnx2hpp {}", dice::version), "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.get_formatter()->column_width(34);
  // Not required(): CLI11 would then take the names behind --list-operators for it.
  app.add_option("MODEL", model, "The network, an .onnx file")->type_name("FILE");
  const auto one = CLI::MultiOptionPolicy::Throw;
  app.add_option("-o,--output-dir", folder, "Folder to write to; created if missing")
      ->type_name("DIR")
      ->multi_option_policy(one);
  auto* name = app.add_option("--name", out.name,
                              "Namespace of the header and stem of the files (default: from the model's file name)")
                   ->type_name("NAMESPACE")
                   ->multi_option_policy(one);
  app.add_option("-i,--input", inputs, "Fix the shape of a graph input, as in input:1x3x224x224 (repeatable)")
      ->type_name("NAME:SHAPE")
      ->allow_extra_args(false);
  app.add_option("-d,--dimension", dimensions, "Fix a symbolic dimension, as in batch=1 (repeatable)")
      ->type_name("SYMBOL=N")
      ->allow_extra_args(false);
  app.add_option("--outputs", out.outputs, "End the network at these values instead of the graph's outputs")
      ->type_name("A,B")
      ->allow_extra_args(false);
  app.add_option("--mapping", mapping, "Also write AutoDiCE's mapping (JSON) as a type; needs --platform")
      ->type_name("FILE")
      ->multi_option_policy(one);
  app.add_option("--platform", platform, "The hosts of the mapping, one per line")
      ->type_name("FILE")
      ->multi_option_policy(one);
  app.add_option("--profile", profiles, "Also write what a program measured with --measure as types (repeatable)")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--expect", out.expected,
                 "Compute the network, compare it with these tensors, and write nothing if one differs (repeatable)")
      ->type_name("[NAME=]FILE|DIR")
      ->allow_extra_args(false);
  auto* error =
      app.add_option(
             "--tolerance", tolerance,
             "For --expect: the largest max |a-b| / max |b| (default: 1e-4), or share of unequal integers (default: 0)")
          ->type_name("X")
          ->multi_option_policy(one);
  app.add_flag("--list-layers", out.list,
               "Print the layers as a table and write nothing; cut bytes: what a cut before the layer would send");
  app.add_option_function<std::vector<std::string>>(
         "--list-operators", [](const auto& names) { throw CLI::CallForVersion(list_operators(names), 0); },
         "Print what is read of each ONNX operator, or of A and B only, and exit")
      ->type_name("[A,B]")
      ->delimiter(',')
      ->expected(0, -1);
  app.add_option("--dot", dot, "Also write the network as a graph for Graphviz")
      ->type_name("FILE")
      ->multi_option_policy(one);
  app.add_flag("--no-fold", no_fold,
               "Make layers of all nodes, also of BatchNormalization, Dropout and Transposes that cancel");
  app.add_flag("--pin-weights", out.pin_weights,
               "Let programs take only these weights, not others of the same structure, as of another training");
  app.add_option("--depfile", depfile, "Also write the files read as a dependency file for make")
      ->type_name("FILE")
      ->multi_option_policy(one);
  auto* q = app.add_flag("-q,--quiet", quiet, "Print errors and warnings only");
  app.add_flag("-v,--verbose", verbose, "Also print details of the conversion")->excludes(q);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    out.done = true;
    out.exit_code = app.exit(e);
    return out;
  } catch (const CLI::ParseError& e) {
    const auto wrong = unexpected(app, app.remaining(), argc, argv);
    throw usage_error(wrong.empty() ? fmt::format("{} (see onnx2hpp --help)", e.what()) : wrong);
  }
  if (model.empty()) throw usage_error("MODEL is required (see onnx2hpp --help)");
  for (const auto& [option, value] :
       {std::pair{"-o", folder}, {"--dot", dot}, {"--depfile", depfile}, {"--mapping", mapping}, {"--platform", platform}})
    if (app.count(option) > 0 && value.empty()) throw usage_error(fmt::format("{}: the name is empty", option));
  for (const auto& [option, value] : {std::pair{"--dot", dot}, {"--depfile", depfile}})
    if (value == "-")
      throw usage_error(fmt::format("{}: output cannot go to '-'; name a file (./- for a file of that name)", option));
  if (std::ranges::count(profiles, "") > 0) throw usage_error("--profile: the name is empty");
  if (mapping.empty() != platform.empty())
    throw usage_error(mapping.empty() ? "--platform needs --mapping FILE" : "--mapping needs --platform FILE");
  if (std::ranges::count(out.expected, "") > 0) throw usage_error("--expect: the name is empty");
  if (error->count() > 0) {
    if (out.expected.empty()) throw usage_error("--tolerance needs --expect FILE");
    out.tolerance = tolerance_of(tolerance);
  }
  if (folder.ends_with(".hpp") && !std::filesystem::is_directory(folder))
    throw usage_error(fmt::format("-o: expected a folder, found {}; --name gives the header its name", quote(folder)));
  out.model = model;
  out.folder = folder;
  out.dot = dot;
  out.depfile = depfile;
  out.mapping = mapping;
  out.platform = platform;
  out.profiles.assign(profiles.begin(), profiles.end());
  out.level = quiet ? verbosity::quiet : verbose ? verbosity::verbose : verbosity::normal;
  out.settings.fold = !no_fold;
  if (name->count() > 0)
    if (const auto why = why_no_namespace(out.name); !why.empty())
      throw usage_error(fmt::format("--name {}: {}", quote(out.name), why));
  for (const auto& i : inputs) {
    out.settings.inputs.push_back(read_input(i));
    if (std::ranges::count(out.settings.inputs, out.settings.inputs.back().first, [](const auto& e) { return e.first; }) > 1)
      throw usage_error(fmt::format("-i: {} is given twice", quote(out.settings.inputs.back().first)));
  }
  for (const auto& d : dimensions) {
    const auto equals = d.rfind('=');
    if (equals == std::string::npos || equals == 0)
      throw usage_error(fmt::format("-d: expected SYMBOL=N such as batch=1, found {}", quote(d)));
    if (!out.settings.dimensions.emplace(d.substr(0, equals), positive(d.substr(equals + 1), "-d")).second)
      throw usage_error(fmt::format("-d: {} is given twice", quote(d.substr(0, equals))));
  }
  return out;
}

std::vector<std::string> read_outputs(const std::vector<std::string>& given, const model& m) {
  std::set<std::string> known;
  for (const auto& v : m.inputs) known.insert(v.name);
  for (const auto& n : m.nodes) known.insert(n.outputs.begin(), n.outputs.end());
  std::vector<std::string> out;
  for (const auto& text : given)
    for (std::size_t at = 0; at <= text.size();) {
      // The longest known name that ends at a comma, else the text up to the next comma.
      std::size_t end = text.size();
      while (end != std::string::npos && end > at && !known.contains(text.substr(at, end - at)))
        end = text.rfind(',', end - 1);
      if (end == std::string::npos || end <= at) end = std::min(text.find(',', at), text.size());
      out.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  for (const auto& name : out) {
    if (name.empty()) throw usage_error("--outputs: expected names of values, separated by commas");
    if (std::ranges::count(out, name) > 1) throw usage_error(fmt::format("--outputs: {} is given twice", quote(name)));
  }
  return out;
}

}  // namespace onnx2hpp
