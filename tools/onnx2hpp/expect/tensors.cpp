#include "expect/tensors.hpp"

#include "graph/names.hpp"
#include "read/input_file.hpp"

#include "dice/frames/npy.hpp"
#include "dice/graph/ops/input.hpp"
#include "dice/runtime/number_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace onnx2hpp {

namespace {

namespace fs = std::filesystem;

/// Names in files may have `_` for characters that file names lack.
std::string as_in_files(const std::string& name) { return with_underscores(name, "/:"); }

tensor_file named_after_tensor(const fs::path& path) { return {path, path.stem().string(), path.extension() == ".pb"}; }

/// What is in a folder, in the order of names.
std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> out;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) out.push_back(at->path());
  if (failed) throw file_error(fmt::format("cannot read the folder {}: {}", quote(folder.string()), failed.message()));
  std::ranges::sort(out);
  return out;
}

bool is_folder(const fs::path& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}

/// Tensors of a folder go to `own`, those of its test_data_set_… to `others`.
void add_folder(const fs::path& folder, file_set& own, std::vector<file_set>& others) {
  bool found = false;
  const auto add = [&](const fs::path& path, file_set& to) {
    if (is_folder(path) || (path.extension() != ".npy" && path.extension() != ".pb")) return;
    to.push_back(named_after_tensor(path));
    found = true;
  };
  for (const auto& path : entries(folder)) {
    add(path, own);
    if (!is_folder(path) || !path.filename().string().starts_with("test_data_set_")) continue;
    auto& set = others.emplace_back();
    for (const auto& inside : entries(path)) add(inside, set);
  }
  if (!found)
    throw file_error(
        fmt::format("{} has no tensors; put files there that have the names of the model's tensors, such as "
                    "input.npy, or ONNX's test data (input_0.pb, output_0.pb, …)",
                    quote(folder.string())));
}

class reader {
 public:
  reader(const model& m, const network& net, std::vector<std::string>& skipped, std::vector<problem>& problems)
      : model_(m), net_(net), skipped_(skipped), problems_(problems) {
    std::vector<std::string> all;
    for (const auto& [name, layer] : net.tensors) all.push_back(name);
    for (const auto& v : m.inputs) all.push_back(v.name);
    for (const auto& name : all) names_[as_in_files(name)].insert(name);
    hints_ = hints(std::move(all));
  }

  frame_set run(const file_set& files) {
    for (const auto& f : files) add(f);
    for (std::size_t i = 0; i < net_.layers.size(); ++i) {
      const auto& l = net_.layers[i];
      if (is_input(l) && !seen_.contains(l.onnx_name))
        problems_.push_back({.node = "input " + quote(l.onnx_name),
                             .reason = "--expect has no values of it",
                             .remedy = fmt::format("add a file {}.npy to the folder, or --expect {}=FILE",
                                                   as_in_files(l.onnx_name), as_in_files(l.onnx_name))});
    }
    if (out_.expected.empty() && problems_.empty())
      problems_.push_back({.reason = "--expect has values of graph inputs only, and none to compare",
                           .remedy = "add files with the expected values of graph outputs"});
    std::ranges::sort(out_.expected, {}, &tensor_values::layer);
    return std::move(out_);
  }

 private:
  void tell(const tensor_file& f, std::string reason, std::string remedy) {
    problems_.push_back({.node = quote(f.path.string()), .reason = std::move(reason), .remedy = std::move(remedy)});
  }

  void add(const tensor_file& f) {
    const auto name = name_of(f);
    if (name.empty()) return;
    if (const auto [first, is_new] = seen_.emplace(name, f.path); !is_new)
      return tell(f, fmt::format("{} also has values of {}", quote(first->second.string()), quote(name)),
                  "remove one of the files; folders of test data are given one at a time, or by the folder that has them");
    const auto input = std::ranges::find_if(net_.layers, [&](const layer& l) { return is_input(l) && l.onnx_name == name; });
    const bool is_given = input != net_.layers.end();
    const auto computed = net_.tensors.find(name);
    const int index = is_given                         ? static_cast<int>(input - net_.layers.begin())
                      : computed == net_.tensors.end() ? -1
                                                       : computed->second;
    if (index < 0) return skipped_.push_back(name);
    try {
      auto values = read(f, name, index, is_given);
      if (is_given) out_.inputs.emplace(index, std::move(values));
      else out_.expected.push_back(std::move(values));
    } catch (const std::runtime_error& e) {
      problems_.push_back({.reason = e.what()});
    }
  }

  /// The tensor's name in the model; "" after a problem.
  std::string name_of(const tensor_file& f) {
    if (f.numbered)
      for (const auto& [word, values] : {std::pair("input", &model_.inputs), {"output", &model_.outputs}})
        if (const auto k = number_after(std::string(word) + "_", f.name); k >= 0) {
          if (k < static_cast<std::int64_t>(values->size())) return (*values)[k].name;
          tell(f, fmt::format("the model has {} {}{}", values->size(), word, values->size() == 1 ? "" : "s"),
               "remove the file, or give it the name of a tensor");
          return {};
        }
    const auto found = names_.find(as_in_files(f.name));
    if (found == names_.end()) {
      tell(f, fmt::format("the model has no tensor {}", quote(f.name)),
           hints_.for_name(f.name, "name the file after the tensor, or give it as --expect NAME=FILE"));
      return {};
    }
    if (found->second.contains(f.name)) return f.name;
    if (found->second.size() > 1) {
      tell(f, fmt::format("it may be {} or {}", quote(*found->second.begin()), quote(*std::next(found->second.begin()))),
           "say which: --expect NAME=FILE");
      return {};
    }
    return *found->second.begin();
  }

  /// k if `name` is `word` and then k, else -1.
  static std::int64_t number_after(const std::string& word, const std::string& name) {
    std::int64_t k = -1;
    if (!name.starts_with(word)) return -1;
    const auto* const end = name.data() + name.size();
    const auto [last, error] = std::from_chars(name.data() + word.size(), end, k);
    return error == std::errc() && last == end && k >= 0 ? k : -1;
  }

  /// The type of a tensor in its files; files of an input may also have float32.
  dice::tensor::number type_of(const std::string& name, int index, bool is_given) const {
    const auto* input = net_.layers[index].op.get_if<dice::ops::input>();
    return is_given && input ? input->number : net_.type_of(name);
  }

  tensor_values read(const tensor_file& f, const std::string& name, int index, bool is_given) {
    const auto& one = net_.layers[index].result;
    const auto what = fmt::format("{} {}", is_given ? "input" : "tensor", quote(name));
    tensor_values out{name, index, {}, nullptr, type_of(name, index, is_given)};
    if (f.path.extension() == ".pb") read_proto(f.path, one, what, is_given, out);
    else read_npy(f.path, one, what, is_given, out);
    if (is_given) out.type = dice::tensor::number::float32;
    const auto frames = static_cast<std::int64_t>(out.numbers.size()) / one.elements();
    for (std::int64_t k = 0; k < frames; ++k)
      dice::runtime::require_finite(out.numbers.data() + k * one.elements(), one, {},
                                    fmt::format("{} ({}): frame {} holds", quote(f.path.string()), what, k),
                                    is_given ? "give finite numbers" : "give finite numbers, or leave this tensor out");
    if (out_.frames == 0) {
      out_.frames = frames;
      first_ = f.path;
    }
    if (frames != out_.frames)
      throw file_error(fmt::format("{} has {} frame{} of {}, but {} has {}; give the same frames of all tensors",
                                   quote(f.path.string()), frames, frames == 1 ? "" : "s", what, quote(first_.string()),
                                   out_.frames));
    return out;
  }

  static void read_npy(const fs::path& path, const shape& one, const std::string& what, bool is_given, tensor_values& out) {
    if (!is_given && out.type != dice::tensor::number::float32) {
      const auto all =
          std::make_shared<dice::frames::tensor>(dice::frames::read_results(path.string(), one, what, out.type));
      out.numbers = {all->data(), all->size()};
      out.owner = all;
      return;
    }
    const auto file = std::make_shared<dice::frames::mapped_frames>(path.string(), one, what, out.type);
    out.numbers = file->numbers();
    out.owner = file;
  }

  static void read_proto(const fs::path& path, const shape& one, const std::string& what, bool is_given,
                         tensor_values& out) {
    const constant c = load_tensor(path);
    if (is_given && is_real(c.type)) out.type = dice::tensor::number::float32;
    const auto fail = [&](const std::string& why) { throw file_error(fmt::format("{} {}", quote(path.string()), why)); };
    const auto type = dice::frames::type_name(out.type);
    if (number_of(c.type) != out.type || (!is_real(c.type) && out.type == dice::tensor::number::float32))
      fail(fmt::format("holds elements of type {}; {} is {}: save it with .astype(np.{})", onnx2hpp::name_of(c.type), what,
                       type, type));
    const auto dims = c.dims.empty() ? std::vector<std::int64_t>{1} : c.dims;
    dice::frames::require_frames(dims, dice::frames::npy_code(out.type), one, what, false, fail, out.type);
    const auto numbers = std::make_shared<std::vector<float>>(static_cast<std::size_t>(c.elements()));
    to_float32(c, 0, *numbers);
    if (out.type != dice::tensor::number::float32) require_exact(onnx2hpp::integers(c), *numbers, fail);
    out.numbers = *numbers;
    out.owner = numbers;
  }

  static void require_exact(const std::vector<std::int64_t>& whole, const std::vector<float>& numbers, const auto& fail) {
    for (std::size_t i = 0; i < whole.size(); ++i)
      if (dice::frames::as_number<std::int64_t>(numbers[i]) != whole[i])
        fail(fmt::format("holds {}, which no result can be: networks compute in float32", whole[i]));
  }

  const model& model_;
  const network& net_;
  std::vector<std::string>& skipped_;
  std::vector<problem>& problems_;
  std::map<std::string, std::set<std::string>> names_;  ///< of the model's tensors, by their form in file names
  hints hints_{{}};
  std::map<std::string, fs::path> seen_;
  fs::path first_;  ///< the file that decided the number of frames
  frame_set out_;
};

}  // namespace

std::vector<file_set> find_tensor_files(const std::vector<std::string>& given) {
  std::vector<file_set> out(1);
  for (const auto& text : given) {
    std::error_code unknown;
    const auto equals = text.find('=');
    if (is_folder(text)) {
      std::vector<file_set> sets;
      add_folder(text, out[0], sets);
      out.insert(out.end(), sets.begin(), sets.end());
    } else if (fs::exists(text, unknown)) {
      out[0].push_back(named_after_tensor(text));
    } else if (equals == text.npos) {
      throw file_error(
          fmt::format("--expect: there is no file or folder {}; give a folder of tensors, FILE or NAME=FILE", quote(text)));
    } else {
      if (equals == 0 || equals + 1 == text.size())
        throw usage_error(fmt::format("--expect: expected NAME=FILE such as output=output.npy, found {}", quote(text)));
      out[0].push_back({text.substr(equals + 1), text.substr(0, equals)});
    }
  }
  if (out[0].empty()) out.erase(out.begin());
  return out;
}

frame_set read_frame_set(const file_set& files, const model& m, const network& net, std::vector<std::string>& skipped,
                         std::vector<problem>& problems) {
  return reader(m, net, skipped, problems).run(files);
}

}  // namespace onnx2hpp
