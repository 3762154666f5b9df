// A network that a program owns: it pushes frames and takes results while the ranks compute.
#pragma once

#include "dice/app/here.hpp"
#include "dice/app/load_frames.hpp"
#include "dice/channels/processes.hpp"
#include "dice/frames/numbers.hpp"
#include "dice/job/stream_job.hpp"
#include "dice/tensor/number.hpp"

#include <xtensor/xadapt.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace dice {

namespace runtime {
/// The older name of frames::tensor, until 1.0.
using tensor [[deprecated("use dice::frames::tensor")]] = frames::tensor;
}  // namespace runtime

namespace app {

namespace detail {

/// The id of the only graph input (or output) of Net; -1 if it has none or several.
template <class Net, bool Inputs> consteval int only() {
  int id = -1, count = 0;
  for (int l = 0; l < graph::view_of<Net>.size(); ++l)
    if (const auto& info = graph::view_of<Net>.layers[l]; Inputs ? info.is_input : info.is_output) {
      id = l;
      ++count;
    }
  return count == 1 ? id : -1;
}
template <class Net, int Id> struct only_layer { using type = typename Net::template layer<Id>; };
template <class Net> struct only_layer<Net, -1> { using type = void; };

template <class Net, class Layer> constexpr bool is_input() {
  if constexpr (placement::detail::belongs<Net, Layer>()) return Layer::op.onnx == "Input";
  return false;
}
template <class Net, class Layer> constexpr bool is_output() {
  if constexpr (placement::detail::belongs<Net, Layer>()) return Layer::op.onnx == "Output";
  return false;
}

/// The type of the numbers of graph output Layer.
template <class Layer> using number_of = ::dice::tensor::number_type<Layer::op.number>;

/// The extents of a layer's output, as xtensor takes them.
template <class Layer> constexpr auto extents() {
  std::array<std::size_t, static_cast<std::size_t>(Layer::result.rank)> out{};
  for (std::size_t a = 0; a < out.size(); ++a) out[a] = static_cast<std::size_t>(Layer::result[static_cast<int>(a)]);
  return out;
}
template <class Layer, class Number> auto view(Number* at) {
  return xt::adapt(at, static_cast<std::size_t>(Layer::result.elements()), xt::no_ownership(), extents<Layer>());
}

/// Refuses an empty std::function and a null pointer to a function, which nobody could call later.
template <class F> void require_function(const F& f, const char* taker) {
  if constexpr (std::is_pointer_v<F> || (std::is_class_v<F> && !std::is_empty_v<F> && requires {
                  { f == nullptr } -> std::convertible_to<bool>;
                }))
    if (f == nullptr) throw std::invalid_argument(std::string(taker) + " was given an empty function");
}

}  // namespace detail
}  // namespace app

/// A graph input of Net: what engine<Net> takes.
template <class Layer, class Net>
concept input_of = app::detail::is_input<Net, Layer>();
/// A graph output of Net: what engine<Net> gives.
template <class Layer, class Net>
concept output_of = app::detail::is_output<Net, Layer>();
/// A result of graph output Layer: row-major, of the output's shape, batch included. Its numbers are float, or the integers
/// or bools that the model computes.
template <class Layer> using result_of = xt::xarray<app::detail::number_of<Layer>, xt::layout_type::row_major>;

/// A running network, made by dice::start. Every process of the job has one; all start and end together. start() returns
/// when all ranks are ready. The destructor, like wait(), returns when the ranks with inputs have closed and all frames are
/// done. Frames enter in the rank of the graph input, results come out in the rank of the graph output; in other ranks the
/// engine only computes.
///
/// Its functions throw std::logic_error once the engine has been moved to another.
///
/// All functions may be called from any thread at any time, in every state of an engine: it runs; this process has closed;
/// the stream has ended; it has failed. Only moving and destroying an engine require that no other call is under way. In a
/// function given to push or on_result, push, take, drain and wait throw std::logic_error where they would wait.
///
/// `Layer` names a graph input or output; it may be omitted if the network has only one.
template <graph::network_type Net> class engine {
 public:
  using tensor = frames::tensor;  ///< a result_of outputs whose numbers are float
  /// The graph input (output) of a network with one; void if it has none or several.
  using only_input = typename app::detail::only_layer<Net, app::detail::only<Net, true>()>::type;
  /// \copydoc only_input
  using only_output = typename app::detail::only_layer<Net, app::detail::only<Net, false>()>::type;

  /// For dice::start.
  explicit engine(std::unique_ptr<job::stream_job> job) : job_(std::move(job)) {}

  /// Whether frames for `Layer` enter in this process.
  template <class Layer = only_input>
  requires input_of<Layer, Net>
  bool has_input() const { return job().holds(Layer::id); }
  /// Whether results of `Layer` come out in this process.
  template <class Layer = only_output>
  requires output_of<Layer, Net>
  bool has_output() const { return job().holds(Layer::id); }
  /// The older name of has_input, until 1.0.
  template <class Layer = only_input>
  requires input_of<Layer, Net>
  [[deprecated("use has_input")]] bool takes() const { return has_input<Layer>(); }
  /// The older name of has_output, until 1.0.
  template <class Layer = only_output>
  requires output_of<Layer, Net>
  [[deprecated("use has_output")]] bool gives() const { return has_output<Layer>(); }

  /// Hands over one frame. It is a tensor or any xtensor expression of the input's shape, batch included, whose numbers
  /// become float32 (a moved tensor is copied only when it enters); or a function that the engine's thread calls with a view
  /// of that shape, and that writes the frame in place (no copy at all). Waits while the queue is full. Throws
  /// std::invalid_argument for another shape and for an empty std::function, std::logic_error in a rank without that input
  /// or after close(), and engine_error once the stream has failed, even while it waits.
  template <class Layer = only_input, class Frame>
  requires input_of<Layer, Net>
  void push(Frame&& frame) { hand_over<Layer>(std::forward<Frame>(frame), frames::never); }
  /// The same, but returns false if the queue is full; then the frame is not taken, even if it was given by std::move.
  template <class Layer = only_input, class Frame>
  requires input_of<Layer, Net>
  bool try_push(Frame&& frame) { return hand_over<Layer>(std::forward<Frame>(frame), frames::at_once); }
  /// The same, but returns false if the queue is still full after `time`, a std::chrono::duration.
  template <class Layer = only_input, class Rep, class Period, class Frame>
  requires input_of<Layer, Net>
  bool push_for(const std::chrono::duration<Rep, Period>& time, Frame&& frame) {
    return hand_over<Layer>(std::forward<Frame>(frame), frames::deadline_in(time));
  }

  /// Waits for the next result, in the order of frames; nullopt once the stream has ended. Throws std::logic_error in a rank
  /// without that output, and engine_error if the stream failed, after all earlier results.
  template <class Layer = only_output>
  requires output_of<Layer, Net> std::optional<result_of<Layer>> take() { return next<Layer>(frames::never); }
  /// The same into `result`, whose memory is reused for later results; false once the stream has ended.
  template <class Layer = only_output>
  requires output_of<Layer, Net>
  bool take(result_of<Layer>& result) { return next<Layer>(result, frames::never); }
  /// Like take(), but also returns nullopt if there is no result after `time`, a std::chrono::duration. To know which it
  /// was, ask ended() before the call: once it is true, all remaining results can be taken without waiting.
  template <class Layer = only_output, class Rep, class Period>
  requires output_of<Layer, Net> std::optional<result_of<Layer>> take_for(const std::chrono::duration<Rep, Period>& time) {
    return next<Layer>(frames::deadline_in(time));
  }
  /// The same into `result`; false where the other returns nullopt.
  template <class Layer = only_output, class Rep, class Period>
  requires output_of<Layer, Net>
  bool take_for(const std::chrono::duration<Rep, Period>& time, result_of<Layer>& result) {
    return next<Layer>(result, frames::deadline_in(time));
  }
  /// From now on results go to `f(frame, view)`, in order, in the engine's thread; those already waiting, in this thread.
  /// `frame` counts from 0, `view` is an xtensor view of the output's shape that is valid during the call. The pipeline
  /// waits for f; an exception from f ends the stream, and leaves this function if f was called here. Throws
  /// std::invalid_argument for an empty std::function. Called again, replaces f from the next frame on: waits until the old
  /// f has returned, unless a function given to this engine makes this call.
  template <class Layer = only_output, class F>
  requires output_of<Layer, Net>
  void on_result(F f) {
    app::detail::require_function(f, "on_result");
    // Shared, because F may be a type that can only be moved.
    job().listen(Layer::id, [f = std::make_shared<F>(std::move(f))](std::int64_t frame, const float* at) {
      if constexpr (holds_floats<Layer>) {
        (*f)(frame, app::detail::view<Layer>(at));
      } else {
        result_of<Layer> result;
        convert<Layer>(at, result);
        (*f)(frame, app::detail::view<Layer>(std::as_const(result).data()));
      }
    });
  }

  /// Waits until all frames pushed in this process so far have left the network everywhere. Throws engine_error if the
  /// stream fails or has failed. Results queue up without bound meanwhile.
  void drain() { job().drain(); }
  /// Declares that this process pushes no more frames. Once all processes with inputs have closed, the stream ends when all
  /// frames are done. A push() that waits throws.
  void close() { job().close(); }
  /// Ends the stream at once, in all ranks, with frames unfinished: waiting functions throw engine_error. Has no effect once
  /// the stream has ended.
  void stop() { job().stop(); }
  /// Whether the stream has ended, well or not.
  bool ended() const { return job().ended(); }
  /// Waits for the end of the stream. Throws engine_error if it failed or was stopped. Results queue up without bound
  /// meanwhile.
  void wait() { job().wait(); }

 private:
  template <class Layer> static void require_shape(const auto& found) {
    constexpr auto wanted = app::detail::extents<Layer>();
    if (!std::equal(wanted.begin(), wanted.end(), found.begin(), found.end()))
      throw std::invalid_argument("a frame of shape " + frames::shape_text(found) + " for '" +
                                  std::string(Layer::onnx_name) + "', whose shape is " + frames::shape_text(wanted));
  }
  template <class Layer, class Frame> static job::stream_job::writer writer(Frame&& frame) {
    if constexpr (!xt::is_xexpression<std::remove_cvref_t<Frame>>::value) {
      static_assert(std::invocable<Frame&, decltype(app::detail::view<Layer>(static_cast<float*>(nullptr)))>,
                    "a frame is an xtensor expression, or a function that takes a view and writes to it");
      return [f = std::make_shared<std::decay_t<Frame>>(std::forward<Frame>(frame))](float* to, std::int64_t) {
        (*f)(app::detail::view<Layer>(to));
      };
    } else {
      return [t = tensor(std::forward<Frame>(frame))](float* to, std::int64_t elements) {
        std::memcpy(to, t.data(), static_cast<std::size_t>(elements) * sizeof(float));
      };
    }
  }

  template <class Layer, class Frame> bool hand_over(Frame&& frame, frames::deadline until) {
    if constexpr (xt::is_xexpression<std::remove_cvref_t<Frame>>::value) require_shape<Layer>(frame.shape());
    else app::detail::require_function<std::decay_t<Frame>>(frame, "push");
    return job().push(
        Layer::id, [&] { return writer<Layer>(std::forward<Frame>(frame)); }, until);
  }
  template <class Layer> static constexpr bool holds_floats = std::same_as<app::detail::number_of<Layer>, float>;
  template <class Layer> static void convert(const float* from, result_of<Layer>& to) {
    to.resize(app::detail::extents<Layer>());
    std::transform(from, from + to.size(), to.data(), frames::as_number<app::detail::number_of<Layer>>);
  }
  template <class Layer> bool next(result_of<Layer>& result, frames::deadline until) {
    if constexpr (holds_floats<Layer>) {
      return job().take(Layer::id, result, until);
    } else {
      tensor numbers;
      if (!job().take(Layer::id, numbers, until)) return false;
      convert<Layer>(numbers.data(), result);
      return true;
    }
  }
  template <class Layer> std::optional<result_of<Layer>> next(frames::deadline until) {
    result_of<Layer> result;
    if (!next<Layer>(result, until)) return std::nullopt;
    return result;
  }

  job::stream_job& job() const {
    if (job_) return *job_;
    throw std::logic_error("this engine was moved from: call the functions of the engine that it was moved to");
  }

  std::unique_ptr<job::stream_job> job_;
};

/// Starts network Net under mapping Map. A single rank (unless `o.mapping` is given to several processes), or all ranks with
/// `o.by` in_process, run in this process without MPI. Otherwise every process of MPI_COMM_WORLD must call it, and it starts
/// MPI if the program has not done so. Throws engine_error, the same in all ranks, if the start fails, and
/// std::runtime_error if MPI runs at a lower level than engine_thread_level. Cluster says which ranks a program for one kind
/// of board has (dice_add_deployment).
template <class Net, class Map, class Cluster = void>
requires app::right_on<Net, Map, Cluster> engine<Net> start(const engine_options& o = {}) {
  static_cast<void>(schedule::phases_of<Net, Map>);
  return engine<Net>(std::make_unique<job::stream_job>(assembly::program<Net, Map, app::here<Net, Map, Cluster>>(), o));
}

/// The same over the processes of `ranks`, an MPI_Comm, which all call it; the engine works on a duplicate.
template <class Net, class Map, class Cluster = void>
requires app::right_on<Net, Map, Cluster> engine<Net> start(const channels::processes& ranks, const engine_options& o = {}) {
  static_cast<void>(schedule::phases_of<Net, Map>);
  return engine<Net>(
      std::make_unique<job::stream_job>(assembly::program<Net, Map, app::here<Net, Map, Cluster>>(), o, ranks));
}

/// Chosen for a mapping or cluster with a mistake: naming its return type is the error that the user reads.
template <class Net, class Map, class Cluster = void, class... Any>
requires(!app::right_on<Net, Map, Cluster>) decltype(app::verdict_on<Net, Map, Cluster>()()) start(const Any&...);

}  // namespace dice
