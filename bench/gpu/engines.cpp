// cuDNN's engines for the convolutions of nine networks (bench/kernels/convolutions.inc), and dice's own kernel for those of
// single channels: as JSON, one per line, with their notes, working memory, and times to prepare and to run. At most 32 for
// each (--most), and a quarter as many with tensor cores; none that reduces precision or is not deterministic.
//
//   probe_engines [--networks A,B] [--from SHAPE] [--shapes N] [--seconds S] [--most N] [--no-tensor-cores]
//                 [--workspace MIB] [--quick]
//   probe_engines --properties FILE …        without a GPU: what cuDNN plans for the one that FILE describes; no times
//   probe_engines --write-properties FILE    only writes that file
//
// Exit status 3: the time is over, and the last line names the shape with which to continue. bench/gpu/engines.py
// summarizes.
#include "probe.hpp"

#include <dice/algorithm/cudnn.hpp>
#include <dice/kernels/cudnn/detail/convolutions.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>

namespace {

using namespace dice;
using namespace dice::kernels;
using clock_type = std::chrono::steady_clock;

struct layer {
  const char* networks;
  tensor::shape in;
  ops::conv op;
  tensor::shape result() const { return op.infer({&in, 1}); }
};
constexpr layer layers[] = {
#include "../kernels/convolutions.inc"
};

double ms_since(clock_type::time_point begin) {
  return std::chrono::duration<double, std::milli>(clock_type::now() - begin).count();
}

std::string name_of(const layer& l) {
  const auto by = [](std::int64_t a, std::int64_t b) { return std::to_string(a) + "x" + std::to_string(b); };
  const auto& o = l.op;
  return std::to_string(l.in[1]) + ">" + std::to_string(o.channels) + "," + by(l.in[2], l.in[3]) + "," +
         by(o.kernel[0], o.kernel[1]) + (o.strides[0] > 1 ? ",stride" + std::to_string(o.strides[0]) : "") +
         (o.pads[0] + o.pads[1] == 0 && o.kernel[0] * o.kernel[1] > 1 ? ",unpadded" : "") +
         (o.group > 1 ? ",groups" + std::to_string(o.group) : "");
}

struct note {
  cudnnBackendNumericalNote_t what;
  const char* name;
  bool precise;  ///< sums of float32 products, in the same order each time
  bool plain;    ///< computes with the numbers themselves, not with transformed ones
};
constexpr note notes[] = {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE, "TENSOR_CORE", true, false},
                          {CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS, "DOWN_CONVERT_INPUTS", false, false},
                          {CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, "REDUCED_PRECISION_REDUCTION", false, false},
                          {CUDNN_NUMERICAL_NOTE_FFT, "FFT", true, false},
                          {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, "NONDETERMINISTIC", false, true},
                          {CUDNN_NUMERICAL_NOTE_WINOGRAD, "WINOGRAD", true, false},
                          {CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4, "WINOGRAD_TILE_4x4", true, false},
                          {CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6, "WINOGRAD_TILE_6x6", true, false},
                          {CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13, "WINOGRAD_TILE_13x13", true, false}};

struct candidate {
  cudnn::descriptor configuration;
  cudnn::engine_choice choice;
  const char* mode;
  int place;  ///< in the list of its mode
  std::vector<const char*> notes;
  bool precise = true, plain = true, tensor_cores = false;
};

/// cuDNN's engines for the graph, without duplicates, those that compute plainly first.
std::vector<candidate> candidates(const cudnn::target& on, const cudnn::descriptor& graph) {
  std::vector<candidate> out;
  constexpr std::pair<cudnnBackendHeurMode_t, const char*> modes[] = {
      {CUDNN_HEUR_MODE_B, "B"}, {CUDNN_HEUR_MODE_A, "A"}, {CUDNN_HEUR_MODE_FALLBACK, "FALLBACK"}};
  for (const auto& [mode, name] : modes) {
    int place = 0;
    for (auto& configuration : cudnn::configurations(on, graph, mode)) {
      candidate c{std::move(configuration), {}, name, place++, {}};
      c.choice = cudnn::choice_of(c.configuration);
      if (std::any_of(out.begin(), out.end(), [&](const candidate& o) { return o.choice == c.choice; })) continue;
      for (const auto n : cudnn::notes_of(cudnn::engine_of(c.configuration)))
        for (const auto& known : notes)
          if (known.what == n) {
            c.notes.push_back(known.name);
            c.precise &= known.precise;
            c.plain &= known.plain;
            c.tensor_cores |= n == CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
          }
      out.push_back(std::move(c));
    }
  }
  std::stable_partition(out.begin(), out.end(), [](const candidate& c) { return c.plain; });
  return out;
}

class probes {
 public:
  explicit probes(const probe::arguments& a)
      : most_(static_cast<int>(a.number("--most", 32))),
        max_with_tensor_cores_(a["--no-tensor-cores"].empty() ? most_ / 4 : 0),
        end_(clock_type::now() + std::chrono::seconds(static_cast<std::int64_t>(a.number("--seconds", 1e6)))),
        quick_(!a["--quick"].empty()) {
    if (const auto file = a["--properties"]; !file.empty()) {
      std::ifstream in(file);
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      if (text.empty()) throw std::runtime_error("cannot read '" + file + "'");
      properties_.emplace(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
      properties_->set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                       static_cast<std::int64_t>(text.size()) + 1, text.c_str());
      properties_->finalize("understand these properties");
      return;
    }
    room_ = static_cast<std::int64_t>(a.number("--workspace", 512)) << 20;
    bench_.emplace(static_cast<std::size_t>(room_ + results_room) + (std::size_t{192} << 20));
    cudnn::check(cudnnCreate(&handle_), "start");
    cudnn::check(cudnnSetStream(handle_, bench_->stream()), "start");
    probe::line().say("gpu", bench_->name()).say("cudnn", cudnnGetVersion()).say("layers", std::size(layers));
  }

  /// As cuDNN describes this GPU.
  std::string properties() const {
    cudnn::descriptor d(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    d.set(CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle_);
    d.finalize("tell the GPU's properties");
    std::string text(static_cast<std::size_t>(d.count(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR)), ' ');
    d.get(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, static_cast<std::int64_t>(text.size()), text.data());
    return text.c_str();  // without the terminating 0
  }

  /// Returns whether the time sufficed.
  bool all_of(int number, const layer& l) {
    for (const bool channels_last : {false, true})
      for (const int follows : {0, 1, 2}) one(number, l, channels_last, follows);
    if (bench_ && !late() && algorithm::is_depthwise(l.op, l.in)) own(number, l);
    return !late();
  }
  bool late() const { return clock_type::now() > end_; }

 private:
  static constexpr std::int64_t results_room = std::int64_t{64} << 20;
  static constexpr const char* variants[] = {"conv", "conv+bias+relu", "conv+residual+bias+relu"};

  probe::line& begin(probe::line& out, int number, const layer& l) {
    return out.say("shape", number).say("networks", l.networks).say("layer", name_of(l));
  }

  void one(int number, const layer& l, bool channels_last, int follows) {
    const auto extents = [](const tensor::shape& s) { return std::array{s[0], s[1], s[2], s[3]}; };
    cudnn::convolution c;
    c.x = extents(l.in);
    c.y = extents(l.result());
    c.w = {l.op.channels, l.in[1] / l.op.group, l.op.kernel[0], l.op.kernel[1]};
    c.strides = l.op.strides;
    c.dilations = l.op.dilations;
    c.pads = l.op.pads;
    c.bias = c.relu = follows > 0, c.residual = follows > 1, c.channels_last = channels_last;
    const cudnn::target on{handle_, properties_ ? &*properties_ : nullptr};
    std::vector<candidate> all;
    std::optional<cudnn::descriptor> graph;
    std::string why;
    try {
      graph = cudnn::graph_of(on, c);
      all = candidates(on, *graph);
    } catch (const cudnn::cudnn_error& e) {
      why = e.what();
    }
    const auto precise =
        std::count_if(all.begin(), all.end(), [](const candidate& k) { return k.precise && !k.tensor_cores; });
    {
      probe::line out;
      begin(out, number, l).say("variant", variants[follows]).say("layout", channels_last ? "NHWC" : "NCHW");
      out.say("configurations", all.size()).say("float32", precise);
      if (!why.empty()) out.say("error", why);
    }

    cudnn::operands at;
    const auto results = l.result().elements();
    if (bench_) {
      const auto put = [&](const auto& s) {
        std::int64_t n = 1;
        for (const auto extent : s) n *= extent;
        return bench_->numbers(n);
      };
      at.workspace = begin_memory(results);
      at.room = room_;
      at.y = y_;
      at.x = put(c.x);
      at.w = put(c.w);
      at.bias = put(std::array{c.y[1]});
      if (c.residual) at.residual = put(c.y);
      if (!c.bias) at.bias = nullptr;
    }
    expected_.clear();
    float best = std::numeric_limits<float>::infinity();
    int tried[2] = {};
    for (const auto& k : all) {
      if (late()) return;
      if (!k.precise || tried[k.tensor_cores]++ >= (k.tensor_cores ? max_with_tensor_cores_ : most_)) continue;
      probe::line out;
      begin(out, number, l).say("variant", variants[follows]).say("layout", channels_last ? "NHWC" : "NCHW");
      out.say("mode", k.mode).say("place", k.place).say("engine", cudnn::text_of(k.choice)).say("notes", k.notes);
      out.say("tensor_cores", k.tensor_cores);
      try {
        const auto start = clock_type::now();
        const auto plan = cudnn::plan_of(on, k.configuration);
        out.say("prepare_ms", ms_since(start)).say("workspace", plan.workspace);
        if (!bench_) continue;
        if (plan.workspace > at.room) throw std::runtime_error("too much working memory");
        execute(plan, at);
        probe::bench::check(cudaStreamSynchronize(bench_->stream()), "compute");
        out.say("first_ms", ms_since(start));
        compare(out, k, results);
        const auto times = bench_->measure([&] { execute(plan, at); }, 4 * best, quick_);
        out.say(times);
        if (!k.tensor_cores && times.in_graph > 0) best = std::min(best, times.in_graph);
      } catch (const cudnn::cudnn_error& e) {
        out.say("error", e.what());
      } catch (const std::runtime_error& e) {
        out.say("error", e.what());
        if (cudaStreamSynchronize(bench_->stream()) != cudaSuccess) throw;  // nothing works after that
      }
    }
  }

  /// Whatever is written lies at the beginning, so that all operands stay random numbers: results, and working memory, which
  /// is returned.
  std::byte* begin_memory(std::int64_t results) {
    if (4 * results > results_room) throw std::runtime_error("too large results");
    bench_->clear();
    auto* const workspace = bench_->room(room_);
    y_ = reinterpret_cast<float*>(bench_->room(results_room));
    return workspace;
  }

  /// Compares the results with those of the first engine that computes plainly.
  void compare(probe::line& out, const candidate& k, std::int64_t results) {
    if (!k.plain && expected_.empty()) return;
    const auto got = bench_->get(y_, results);
    if (expected_.empty()) {
      expected_ = got;
      return;
    }
    float most = 0, largest = std::numeric_limits<float>::min();
    bool number = true;
    for (std::size_t i = 0; i < got.size(); ++i) {
      most = std::max(most, std::abs(got[i] - expected_[i]));
      largest = std::max(largest, std::abs(expected_[i]));
      number &= std::isfinite(got[i]);
    }
    out.say("difference", number ? most / largest : 1e9f);
  }

  void own(int number, const layer& l) {
    const auto r = l.result();
    begin_memory(r.elements());
    const auto n = [](std::int64_t i) { return static_cast<int>(i); };
    cudnn::depthwise d{.y = y_,
                       .x = bench_->numbers(l.in.elements()),
                       .weights = bench_->numbers(l.op.channels * l.op.kernel[0] * l.op.kernel[1]),
                       .bias = bench_->numbers(l.op.channels),
                       .images = n(l.in[0]),
                       .channels = n(l.in[1]),
                       .in_height = n(l.in[2]),
                       .in_width = n(l.in[3]),
                       .out_height = n(r[2]),
                       .out_width = n(r[3]),
                       .kernel = {l.op.kernel[0], l.op.kernel[1]},
                       .strides = {l.op.strides[0], l.op.strides[1]},
                       .dilations = {l.op.dilations[0], l.op.dilations[1]},
                       .pads = {l.op.pads[0], l.op.pads[1]},
                       .end = {}};
    for (const bool whole : {false, true}) {
      if (whole) d.end.f = cudnn::function::relu;
      else d.bias = nullptr;
      const auto run = [&] { probe::bench::check(cudnn::start(d, bench_->stream()), "compute"); };
      probe::line out;
      begin(out, number, l).say("variant", variants[whole]).say("layout", "NCHW").say("engine", "own");
      out.say(bench_->measure(run, std::numeric_limits<float>::infinity(), quick_));
      d.bias = bench_->numbers(l.op.channels);
    }
  }

  /// As cudnn::convolutions does.
  void execute(const cudnn::execution_plan& p, const cudnn::operands& at) {
    cudnn::descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    std::vector<std::int64_t> ids{cudnn::names::x, cudnn::names::w, cudnn::names::y};
    std::vector<const void*> places{at.x, at.w, at.y};
    if (at.bias) {
      ids.push_back(cudnn::names::bias);
      places.push_back(at.bias);
    }
    if (at.residual) {
      ids.push_back(cudnn::names::z);
      places.push_back(at.residual);
    }
    void* const workspace = at.workspace;
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
    pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, static_cast<std::int64_t>(places.size()),
             places.data());
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    pack.finalize("take tensors");
    cudnn::check(cudnnBackendExecute(handle_, p.execution.get(), pack.get()), "compute");
  }

  int most_, max_with_tensor_cores_;
  clock_type::time_point end_;
  bool quick_;
  std::int64_t room_ = 0;
  std::optional<cudnn::descriptor> properties_;
  std::optional<probe::bench> bench_;
  cudnnHandle_t handle_ = nullptr;
  float* y_ = nullptr;
  std::vector<float> expected_;
};

/// Whether one of "a+b" is in "a,c"; also if the latter is empty.
bool wanted(const std::string& among, std::string networks) {
  if (among.empty()) return true;
  networks = "+" + networks + "+";
  std::istringstream names(among);
  for (std::string name; std::getline(names, name, ',');)
    if (networks.find("+" + name + "+") != std::string::npos) return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) try {
  const probe::arguments a(
      argc, argv,
      {"--networks", "--from", "--shapes", "--seconds", "--most", "--workspace", "--properties", "--write-properties"},
      {"--no-tensor-cores", "--quick"});
  probes p(a);
  if (const auto file = a["--write-properties"]; !file.empty()) {
    std::ofstream out(file);
    if (!(out << p.properties() << '\n').flush()) throw std::runtime_error("cannot write '" + file + "'");
    return 0;
  }
  double left = a.number("--shapes", 1e9);
  for (int i = static_cast<int>(a.number("--from", 0)); i < static_cast<int>(std::size(layers)); ++i) {
    if (!wanted(a["--networks"], layers[i].networks)) continue;
    if (left-- <= 0) break;
    if (p.late() || !p.all_of(i, layers[i])) {
      probe::line().say("next", i);
      return 3;
    }
    probe::line().say("next", i + 1);
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "probe_engines: %s\n", e.what());
  return 1;
}
