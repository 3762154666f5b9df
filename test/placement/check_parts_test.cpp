// Layers in parts: their mistakes, which are the same as types and as text, and mappings that come back as they were.
#include "dice/placement/text/write.hpp"
#include "mapping_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mapping_text;

TEST(Parts, MistakesAreThoseOfTheTypes) {
  SAME(mapping<ranks<0>, layers<all>>);
  SAME(mapping<dev<0>, ranks<>, layers<all>>);
  SAME(mapping<dev<0>, dev<1>>);
  SAME(split<sample::network, points<3>, dev<0>, ranks<0>>);
  SAME(split<sample::network, points<3>, dev<0>, rows<all>>);
  SAME(mapping<dev<0>, ranks<3>, rows<all>>);
  SAME(mapping<dev<0>, dev<1>, ranks<1>, rows<all>>);
  SAME(mapping<ranks<1, 0, 1>, rows<all>, dev<0>, layers<all>, dev<1>, layers<all>>);
  SAME(mapping<dev<0>, dev<1>, layers<all>>);
  SAME(mapping<dev<0>, ranks<1>, layers<all>, dev<1>, layers<all>>);
  SAME(mapping<dev<0>, rows<all>>);
  SAME(mapping<dev<0>, layers<all>, ranks<0>, output_channels<all>>);
  SAME(mapping<dev<0>, layers<all, exchange_every<3>>>);
  SAME(mapping<dev<0>, layers<shares<3>, all>>);
  SAME(mapping<dev<0>, dev<1>, rows<all, shares<3, 2>, sample::image>>);
  SAME(mapping<dev<0>, dev<1>, rows<all, shares<3, 2>, range<sample::image, sample::conv1>, shares<1>>>);
  SAME(mapping<dev<0>, dev<1>, rows<all, exchange_every<1>, exchange_every<2>>>);
  SAME(mapping<dev<0>, dev<1>, tiles<1, 2, all, shares<1, 2>>>);
  SAME(mapping<dev<0>, dev<1>, input_channels<all, exchange_every<2>>>);
  SAME(mapping<dev<0>, dev<1>, output_channels<all, exchange_every<2>>>);
  SAME(mapping<dev<0>, dev<1>, rows<all, first_free>>);
  SAME(mapping<dev<0>, dev<1>, replicas<all, exchange_every<2>>>);
  SAME(mapping<dev<0>, dev<1>, replicas<all, first_free, first_free>>);
  SAME(mapping<dev<0>, dev<1>, replicas<all, first_free, shares<1, 2>>>);
  SAME(mapping<dev<0>, dev<1>, replicas<all, shares<1, 2>, first_free>>);
  SAME(mapping<dev<0>, replicas<all>>);
  SAME(mapping<dev<0>, dev<1>, replicas<all, first_free>>);
  SAME(mapping<dev<0>, layers<sample::image, from<sample::relu1>>, ranks<0>, dev<1>, replicas<sample::conv1, first_free>>);
  SAME(mapping<dev<0>, layers<sample::image, from<sample::conv2>>, ranks<0>, dev<1>, replicas<sample::conv1>, ranks<1, 0>,
               replicas<sample::relu1, first_free>>);
  SAME(mapping<dev<0>, layers<sample::image, from<sample::conv2>>, ranks<0>, dev<1>, replicas<sample::conv1, first_free>,
               ranks<1, 0>, replicas<sample::relu1, shares<4, 1>>>);
  SAME(mapping<dev<0>, tiles<0, 2>>);
  SAME(mapping<dev<0>, tiles<1, -2, all>>);
  SAME(mapping<dev<0>, dev<1>, tiles<1, 1, all>>);
  SAME(mapping<dev<0>, tiles<2147483647, 2147483647, sample::conv1>, ranks<0>, layers<sample::image, from<sample::relu1>>>);
  SAME(mapping<dev<0>, dev<1>, columns<all, shares<1, 0>>>);
  SAME(mapping<dev<0>, dev<1>, columns<all, shares<>>>);
  SAME(mapping<dev<0>, dev<1>, columns<all, shares<1, 2, 3>>>);
  SAME(mapping<dev<0>, dev<1>, columns<all, exchange_every<0>>>);
  SAME(mapping<dev<0>, dev<1>, columns<range<foreign, sample::image>, exchange_every<1>>>);
  SAME(mapping<dev<0>, dev<1>, columns<range<sample::relu1, sample::image>>>);
  SAME(mapping<dev<0>, layers<all>, dev<1>, ranks<0>, columns<>>);
  SAME(mapping<dev<0>, layers<all>, dev<1>, ranks<0>, columns<sample::conv1>>);
  SAME(mapping<dev<0>, dev<1>, columns<sample::conv1>>);
  SAME(mapping<dev<0>, dev<1>, columns<all>>);
  SAME(mapping<dev<0>, layers<sample::image>, ranks<0>, dev<1>, rows<from<sample::conv1>>>);
  SAME(mapping<dev<0>, layers<to<sample::fc1>>, ranks<0>, dev<1>, columns<sample::scores>>);
  SAME(mapping<dev<0>, tiles<9, 1, sample::conv1>, ranks<0>, layers<sample::image, from<sample::relu1>>>);
  SAME(mapping<dev<0>, tiles<1, 9, sample::conv1>, ranks<0>, layers<sample::image, from<sample::relu1>>>);
  SAME(mapping<dev<0>, dev<1>, output_channels<sample::conv1>, ranks<0>, layers<sample::image, from<sample::relu1>>>);
  SAME(mapping<dev<0>, dev<1>, input_channels<sample::conv1>, ranks<0>, layers<sample::image, from<sample::relu1>>>);
}

TEST(Parts, TellsWhatWhereAndTheRemedy) {
  const std::string begin = "mapping<dev<0>, dev<1>, ", end = ", ranks<0>, layers<image, from<relu1>>>";
  const auto first = [&](const std::string& work) { return told(begin + work + end); };
  EXPECT_EQ(told("mapping<dev<0>, colums<all>>"),
            "line 1, column 17: misplaced_entry: 'colums<all>' is not an entry (did you mean 'columns'?); write devices "
            "followed by their work");
  EXPECT_EQ(told("mapping<dev<0>, ranks<>, layers<all>>"),
            "line 1, column 17: misplaced_entry: 'ranks<>' names no rank; write devices followed by their work");
  EXPECT_EQ(told("mapping<dev<0>, ranks<2>, rows<all>>"),
            "line 1, column 17: rank_not_declared: 'ranks<2>' names rank 2, which no device has; declare its device with "
            "dev");
  EXPECT_EQ(told("mapping<dev<0>, dev<1>, ranks<0>, rows<all>>"),
            "line 1, column 25: rank_twice_in_run: 'ranks<0>' adds rank 0 to its run a second time; name each rank once in "
            "a run");
  EXPECT_EQ(first("layers<conv1>"),
            "line 1, column 25: layers_on_several_devices: 'layers<conv1>' is after several devices, first those of "
            "ranks 0 and 1; write one device before layers or split the layers");
  EXPECT_EQ(told("mapping<dev<0>, rows<all>>"),
            "line 1, column 17: split_on_one_rank: 'rows<all>' is after one device only, that of rank 0; name several "
            "devices or write layers");
  EXPECT_EQ(first("tiles<1, 2, conv1, shares<1, 1>>"),
            "line 1, column 44: not_a_split_option: 'shares<1, 1>' does not belong here: tiles<…> has the option "
            "exchange_every<…>; write the layers first and then options of this split each once");
  const auto options = [&](const std::string& work) {
    const auto text = first(work);
    return text.substr(text.find(": ", text.find("here")) + 2, text.find(';') - text.find(": ", text.find("here")) - 2);
  };
  EXPECT_EQ(options("rows<conv1, first_free>"), "rows<…> has the options shares<…> and exchange_every<…>");
  EXPECT_EQ(options("output_channels<conv1, exchange_every<2>>"), "output_channels<…> has the option shares<…>");
  EXPECT_EQ(options("replicas<conv1, exchange_every<2>>"), "replicas<…> has the options shares<…> or first_free");
  EXPECT_EQ(told("mapping<dev<0>, layers<all, exchange_every<2>>>"),
            "line 1, column 29: not_a_split_option: 'exchange_every<2>' is in layers<…>, which has no options; write "
            "the layers first and then options of this split each once");
  EXPECT_EQ(told("mapping<dev<0>, layers<exchange_every<2>, all, shares<1>>>"),
            "line 1, column 24: not_a_split_option: 'exchange_every<2>' is in layers<…>, which has no options; write "
            "the layers first and then options of this split each once")
      << "the first of several";
  EXPECT_EQ(first("tiles<0, 2, conv1>"),
            "line 1, column 25: tile_grid_not_positive: 'tiles<0, 2, conv1>' has a grid of 0 × 2 tiles; give at least one "
            "row and one column");
  EXPECT_EQ(first("tiles<1, 1, conv1>"),
            "line 1, column 25: tiles_fewer_than_ranks: 'tiles<1, 1, conv1>' has 1 tile for 2 ranks; write at least as many "
            "tiles as ranks");
  EXPECT_EQ(first("rows<conv1, shares<1, -1>>"),
            "line 1, column 25: share_not_positive: 'rows<conv1, shares<1, -1>>' has the share -1; give each device a "
            "positive share");
  EXPECT_EQ(first("rows<conv1, shares<1>>"),
            "line 1, column 25: shares_do_not_fit_ranks: 'rows<conv1, shares<1>>' has 1 share for 2 ranks; give one share "
            "for each device of the run");
  EXPECT_EQ(first("rows<conv1, exchange_every<0>>"),
            "line 1, column 25: exchange_every_not_positive: 'rows<conv1, exchange_every<0>>' exchanges after 0 layers; "
            "give a positive number of layers");
  EXPECT_EQ(first("rows<conv1, share<1, 2>>"),
            "line 1, column 37: not_a_layer_of_the_network: 'share' is not a layer of the network sample (did you mean "
            "'shares'?); name layers of the network passed to main");
  EXPECT_EQ(first("rows<conv1, relu1>"),
            "line 1, column 55: layer_in_two_lists: layer 'relu1' is in the lists of ranks (0, 1) and 0; remove it from "
            "one of the layer lists");
  EXPECT_EQ(told("mapping<dev<0>, layers<to<fc1>>, dev<1>, ranks<0>, rows<scores>>"),
            "line 1, column 52: input_or_output_not_splittable: layer 'scores' is a graph output, which one rank has whole; "
            "run it as a whole in a layers list");
  EXPECT_EQ(told("mapping<dev<0>, dev<1>, columns<all>>"),
            "line 1, column 25: input_or_output_not_splittable: layer 'image' is a graph input, which one rank has whole; "
            "run it as a whole in a layers list");
  EXPECT_EQ(told("mapping<dev<0>, layers<to<flatten1>, scores>, ranks<0>, dev<1>, columns<fc1>>"),
            "line 1, column 65: layer_not_splittable: layer 'fc1' (Gemm) cannot be cut by columns; run it as a whole in a "
            "layers list");
  EXPECT_EQ(told("mapping<dev<0>, layers<image, from<conv2>>, ranks<0>, dev<1>, replicas<conv1>, ranks<0, 1>, "
                 "replicas<relu1, first_free>>"),
            "line 1, column 93: first_free_after_replicas: layer 'relu1' reads what other replicas compute, so that no rank "
            "knows all of its frames; give it shares or put a layer between");
  EXPECT_EQ(first("tiles<9, 1, conv1>"),
            "line 1, column 25: too_few_rows: layer 'conv1' can be cut into at most 8 parts by rows, not into 9; make "
            "fewer parts or split it in another way or not at all");
  EXPECT_EQ(first("tiles<1, 10, conv1>"),
            "line 1, column 25: too_few_columns: layer 'conv1' can be cut into at most 8 parts by columns, not into 10; "
            "make fewer parts or split it in another way or not at all");
  EXPECT_EQ(first("output_channels<conv1>"),
            "line 1, column 25: too_few_channel_blocks: layer 'conv1' can be cut into at most 1 part by channels in blocks "
            "of 16, not into 2; make fewer parts or split it in another way or not at all");
  EXPECT_EQ(first("input_channels<conv1>"),
            "line 1, column 25: too_few_channel_blocks: layer 'conv1' can be cut into at most 1 part by input and output "
            "channels in blocks of 16, not into 2; make fewer parts or split it in another way or not at all");
  EXPECT_EQ(told("mapping<dev<0>, layers<image, conv1, from<conv2>>, ranks<0>, dev<1>, input_channels<relu1>>"),
            "line 1, column 70: too_few_channel_blocks: layer 'relu1' can be cut into at most 1 part by channels in blocks "
            "of 16, not into 2; make fewer parts or split it in another way or not at all");
}

// Of several mistakes the first, and what is none.
TEST(Parts, TellsTheFirstAtItsPlace) {
  const auto begins = [](const char* text, const std::string& with) { EXPECT_EQ(told(text).substr(0, with.size()), with); };
  EXPECT_NE(told("mapping<dev<0>, dev<1>, dev<2>, layers<all>>").find("first those of ranks 0 and 1;"), std::string::npos);
  begins("mapping<dev<0>, ranks<-1>, rows<all>>", "line 1, column 17: rank_not_declared: 'ranks<-1>' names rank -1,");
  begins("mapping<dev<0>, ranks<1>, rows<all>>", "line 1, column 17: rank_not_declared: 'ranks<1>' names rank 1,");
  EXPECT_EQ(told("mapping<dev<0>, layers<share<1, 2>>>").find("shares"), std::string::npos);
  begins("mapping<dev<0>, layers<image, from<conv2>>, ranks<0>, tiles<9, 1, relu1>, ranks<0>, tiles<9, 1, conv1>>",
         "line 1, column 85: too_few_rows: layer 'conv1' ");
  const std::string begin = "mapping<dev<0>, layers<image, from<add1>>, ranks<0>, dev<1>, ";
  const auto after = [&](const std::string& works) { return told(begin + works + ", first_free>>"); };
  EXPECT_NE(after("replicas<conv1>, ranks<0, 1>, replicas<range<relu1, conv2>").find("replicas: layer 'relu1'"),
            std::string::npos);
  EXPECT_NE(after("replicas<range<conv1, relu1>>, ranks<0, 1>, replicas<conv2").find("replicas: layer 'conv2'"),
            std::string::npos);
  EXPECT_EQ(after("replicas<conv1, relu1, conv2"), "none");
}

// A layer can be cut at multiples of its steps: how many parts are possible.
TEST(Parts, AreAtMostTheStepsOfALayer) {
  using graph::layer_info;
  std::vector<layer_info> cut;
  const auto add = [&](std::string_view name, std::string_view op, const tensor::shape& output) -> layer_info& {
    auto& l = cut.emplace_back();
    l.name = name, l.op = op, l.output = tensor::type(output);
    l.first_edge = std::max(0, static_cast<int>(cut.size()) - 2), l.edges = cut.size() > 1;
    return l;
  };
  add("in", "Input", {1, 40, 9, 7}).is_input = true;
  auto& conv = add("conv", "Conv", {1, 33, 9, 7});
  conv.cut_steps = {16, 2, 1};
  conv.depth_step = 16;
  conv.depth_axis = 1;
  add("pool", "MaxPool", {1, 33, 9, 7}).cut_steps = {16, 1, 0};
  add("line", "Relu", {1, 33, 63}).cut_steps = {16, 1, 0};
  auto& product = add("product", "MatMul", {1, 33, 64});
  product.cut_steps = {1, 16, 0};
  product.depth_step = 16;
  product.depth_axis = 2;
  add("turn", "Transpose", {1, 64, 33});
  const std::vector<graph::edge> edges{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}};
  const graph::network_view of{cut, edges};
  const auto what = [&](const std::string& name, const std::string& work, int ranks) {
    std::string run = "mapping<", others;
    for (int r = 0; r < ranks; ++r) run += "dev<" + std::to_string(r) + ">, ";
    for (const auto& l : cut)
      if (l.name != name) others += (others.empty() ? "" : ", ") + std::string(l.name);
    const auto m = place::parse(run + work + ", ranks<0>, layers<" + others + ">>", "net", of);
    const auto f = place::check(m.values(), of);
    if (f) {
      EXPECT_EQ(f.position, ranks);
      EXPECT_EQ(cut[f.number].name, name);
    }
    return f.what;
  };
  using enum place::mistake;
  const auto limit = [&](const std::string& name, const std::string& word, int most, place::mistake few) {
    SCOPED_TRACE(name + " by " + word);
    for (int ranks = 2; ranks < most + 3; ++ranks)
      EXPECT_EQ(what(name, word + "<" + name + ">", ranks), ranks <= most ? none : few) << ranks;
  };
  limit("conv", "rows", 5, too_few_rows);
  limit("conv", "columns", 7, too_few_columns);
  limit("conv", "output_channels", 3, too_few_channel_blocks);
  limit("conv", "input_channels", 2, too_few_channel_blocks);  // whole ones of its operand, which has 40
  limit("pool", "rows", 9, too_few_rows);
  limit("pool", "columns", 0, layer_not_splittable);
  limit("pool", "input_channels", 3, too_few_channel_blocks);  // of its result
  limit("line", "rows", 0, layer_not_splittable);              // there are no rows
  limit("line", "columns", 63, too_few_columns);
  limit("product", "output_channels", 4, too_few_channel_blocks);
  limit("product", "input_channels", 3, too_few_channel_blocks);
  for (const char* way : {"rows", "columns", "output_channels", "input_channels"})
    limit("turn", way, 0, layer_not_splittable);
  limit("in", "rows", 0, input_or_output_not_splittable);
  EXPECT_EQ(what("conv", "tiles<5, 7, conv>", 3), none);
  EXPECT_EQ(what("conv", "tiles<6, 8, conv>", 3), too_few_rows);
  EXPECT_EQ(what("conv", "tiles<5, 8, conv>", 3), too_few_columns);
  EXPECT_EQ(what("pool", "tiles<3, 1, pool>", 1), layer_not_splittable);
  EXPECT_EQ(what("pool", "tiles<10, 1, pool>", 1), layer_not_splittable);
  EXPECT_EQ(what("line", "tiles<1, 1, line>", 1), layer_not_splittable);
}

/// A random mapping with layers in parts, on random runs that declare and name devices in any order.
class random_parts {
 public:
  explicit random_parts(unsigned seed) : draw_(seed), devices_(2 + below(3)), undeclared_(ranks()) {}

  std::string text() {
    add_work(0, 0, 0);
    for (int l = 1; l < sample::flatten1::id;) {
      const int last = std::min(l + below(4), sample::concat1::id);
      // The last of these work items declares what is left; only whole layers can be alone on a rank.
      add_work(l, last, last < sample::concat1::id && below(3) == 0 ? 0 : 1 + below(6));
      l = last + 1;
    }
    add_work(sample::flatten1::id, net::size - 1, 0);
    return out_ + ">";
  }

 private:
  int below(int n) { return static_cast<int>(draw_() % static_cast<unsigned>(n)); }
  std::vector<int> ranks() {
    std::vector<int> all(static_cast<std::size_t>(devices_));
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), draw_);
    return all;
  }
  /// Layers first … last with the word of number `how`.
  void add_work(int first, int last, int how) {
    out_ += first ? ",\n    " : "\n    ";
    if (below(6) == 0 && !in_flight_) {
      in_flight_ = true;
      out_ += "dice::in_flight<" + std::to_string(1 + below(9)) + ">,\n    ";
    }
    auto run = ranks();
    const bool all = last == sample::concat1::id;
    run.resize(how == 0 ? 1 : all ? run.size() : 2 + static_cast<std::size_t>(below(devices_ - 1)));
    add_run(run, all);
    std::string shares;
    for (std::size_t i = 0; i < run.size(); ++i) shares += (shares.empty() ? "" : ", ") + std::to_string(1 + below(9));
    out_ += "dice::" + std::string(place::work_words[how].word) + "<";
    if (how == 3) out_ += std::to_string(1 + below(4)) + ", " + std::to_string(run.size()) + ", ";
    out_ += name(first);
    if (below(2)) {
      for (int l = first + 1; l <= last; ++l) out_ += ", " + name(l);
    } else if (last > first) {
      out_.resize(out_.size() - name(first).size());
      out_ += "dice::range<" + name(first) + ", " + name(last) + ">";
    }
    if (how && how != 3 && below(2)) out_ += ", dice::shares<" + shares + ">";
    else if (how == 6 && !free_ && below(2)) {
      free_ = true;
      out_ += ", dice::first_free";
    }  // not after others
    if (how == 6) free_ = true;
    if (how && how < 4 && below(2)) out_ += ", dice::exchange_every<" + std::to_string(1 + below(3)) + ">";
    out_ += ">";
  }
  void add_run(const std::vector<int>& run, bool declare_all) {
    std::string listed;
    const auto end_list = [&] {
      if (!listed.empty()) out_ += "dice::ranks<" + listed + ">, ";
      listed.clear();
    };
    for (const int r : run) {
      const auto found = std::find(undeclared_.begin(), undeclared_.end(), r);
      if (found != undeclared_.end() && (declare_all || below(2))) {
        end_list();
        undeclared_.erase(found);
        out_ += "dice::dev<" + std::to_string(r) + ", dice::cpu>, ";
      } else {
        listed += (listed.empty() ? "" : ", ") + std::to_string(r);
        if (below(4) == 0) end_list();
      }
    }
    end_list();
  }
  static std::string name(int l) { return "sample::" + std::string(view.layers[l].name); }

  std::mt19937 draw_;
  int devices_;
  std::vector<int> undeclared_;
  bool free_ = false, in_flight_ = false;  // whether there are replicas, and in_flight
  std::string out_ = "dice::mapping<";
};

TEST(Parts, RandomMappingsComeBackAsTheyWere) {
  int right = 0;
  std::array<int, 7> works{};
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    const auto text = random_parts(seed).text();
    const auto read = parse(text);
    const auto f = place::check(read.values(), view);
    EXPECT_TRUE(!f || f.what == place::mistake::too_few_channel_blocks)
        << place::tell(read, f) << text;  // sample has few channels
    right += !f;
    EXPECT_EQ(place::write(read.values(), net::name, view), text);
    const place::owned_assignment all(read.values(), net::size);
    const auto where = all.view();
    EXPECT_TRUE(where.splits());
    for (int l = 0; l < net::size; ++l) EXPECT_EQ(where.owner[l], where.ranks_of(where.of(l)).front());
    for (const auto& e : read.values().entries)
      if (e.what == place::entry::kind::work) ++works[e.work.word];
  }
  EXPECT_GT(right, 300);
  for (const int n : works) EXPECT_GT(n, 500);
}

}  // namespace
