// Where results go, as the command line says, and in which form.
#include "dice/app/result_options.hpp"

#include "error_of.hpp"

#include "dice/app/live_results.hpp"
#include "dice/app/options.hpp"
#include "dice/frames/sink.hpp"
#include "dice/graph/network.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace dice;
using app::result_form;
using kinds = app::result_sink::kinds;

namespace {

/// Layers 1, 2 and 3 are outputs.
graph::network_view three_outputs() {
  static const auto layers = [] {
    std::vector<graph::layer_info> out(4);
    for (int l = 1; l < 4; ++l) out[static_cast<std::size_t>(l)].is_output = true;
    out[1].onnx_name = "a";
    out[2].onnx_name = "b";
    out[3].onnx_name = "c";
    return out;
  }();
  return {layers, {}};
}
std::string placed(app::options& o) { return app::place_results(three_outputs(), o); }

}  // namespace

TEST(place_results, of_two_outputs_that_are_decoded_together) {
  for (const int named : {1, 2}) {  // either name means both
    app::options o;
    o.decoders = {{{1, 2}, decode::head::ssd}};
    o.forms = {{named, result_form::json}};
    o.outputs = {{named, "o.jsonl"}};
    EXPECT_EQ(placed(o), "");
    ASSERT_EQ(o.sinks.size(), 1u);
    EXPECT_EQ(o.sinks[0].layer, 1);
    EXPECT_EQ(o.sinks[0].form, result_form::json);
    EXPECT_EQ(o.sinks[0].kind, kinds::file);
    o = {};
    o.decoders = {{{1, 2}, decode::head::ssd}};
    o.forms = {{named, result_form::json}};
    EXPECT_EQ(placed(o), "");
    ASSERT_EQ(o.sinks.size(), 1u);
    EXPECT_EQ(o.sinks[0].form, result_form::json) << "on the standard output";
  }
}

TEST(place_results, of_bytes_on_the_standard_output) {
  app::options alone;  // lines of the others go there, but no bytes
  alone.forms = {{-1, result_form::json}, {3, result_form::raw}};
  alone.sinks = {{3, kinds::command, "cat"}};
  EXPECT_EQ(placed(alone), "");
  EXPECT_EQ(alone.sinks.size(), 3u);
  for (const auto form : {result_form::raw, result_form::npy}) {
    app::options shared;
    shared.forms = {{3, form}, {1, result_form::json}};
    EXPECT_EQ(placed(shared).find("several outputs cannot share the standard output as raw or npy"), 0u);
  }
}

TEST(live_results, have_no_more_frames_than_are_expected) {
  frames::tensor_sink kept;
  app::live_results results(kept);
  results.keep(1, {1, 2}, 2);
  const float x[]{1, 2};
  const auto take = [&](std::int64_t frame) {
    return test::error_of([&] { results.take(1, frame, reinterpret_cast<const std::byte*>(x), tensor::type{1, 2}); });
  };
  EXPECT_EQ(take(0), "none");
  EXPECT_EQ(take(1), "none");
  EXPECT_EQ(take(2), "--expect holds 2 frames, but the stream has more");
}
