// A mapping as text means the same as its words as a type; so do mistakes.
#include "dice/placement/text/write.hpp"
#include "mapping_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace mapping_text;

TEST(MappingText, RightMappingsPlaceAsTheirTypes) {
  SAME(mapping<dev<0>, layers<all>>);
  SAME(dice::mapping<dice::dev<0, dice::cpu>, dice::layers<dice::all>>);
  SAME(mapping<dev<0>, layers<range<sample::image, sample::relu1>, sample::conv1, to<sample::relu1>>, dev<1>,
               layers<from<sample::conv2>, sample::conv2>>);
  SAME(mapping<dev<1, threads<2>>, layers<to<sample::relu1>>, dev<0, cores<3, 1>, memory<1_GiB>>,
               layers<from<sample::conv2>>>);
  SAME(mapping<dev<0, cpu, memory<2_MiB>, memory<1500>, on<"a">>, layers<all>, in_flight<5>>);
  SAME(mapping<in_flight<3>, dev<0, cores<0>, on<"pi-a.local">, memory<7_KiB>>, layers<::sample::image, all>>);
  SAME(mapping<dev<0>, dice::ranks<1>,
               dice::rows<sample::conv1, range<sample::relu1, sample::conv2>, dice::shares<2, 3>, dice::exchange_every<3>>,
               dev<1>, layers<sample::image>, in_flight<7>, ranks<1, 0>, columns<sample::add1, exchange_every<1>>, dev<2>,
               ranks<0>, dev<3>, tiles<2, 3, sample::relu2, sample::pool1, exchange_every<2>>, ranks<3>,
               layers<from<sample::pool2>>>);
  SAME(split<sample::network, points<3, 5>, dev<2>, dev<0>, dev<1>>);
  SAME(split<sample::network, points<sample::conv2::id>, dev<0>, dev<1>, in_flight<7>>);
}

TEST(MappingText, MistakesAreThoseOfTheTypes) {
  SAME(layers<all>);
  SAME(split<other_network, points<0>, int>);
  SAME(mapping<>);
  SAME(mapping<dev<0>>);
  SAME(mapping<dev<0>, dev<0>, layers<>>);
  SAME(mapping<layers<all>, dev<0>>);
  SAME(mapping<dev<0>, in_flight<2>, layers<all>>);
  SAME(mapping<dev<0>, layers<all>, cores<1, 2>>);
  SAME(split<sample::network, points<0>, layers<all>>);
  SAME(split<sample::network, points<0>, dev<1, int>, dev<1>>);
  SAME(mapping<dev<0, int>, layers<>, dev<0>, layers<>>);
  SAME(mapping<dev<-1>, layers<all>>);
  SAME(mapping<dev<0>, layers<sample::image>, dev<2>, layers<from<sample::conv1>>>);
  SAME(mapping<dev<0, int>, layers<foreign>>);
  SAME(mapping<dev<0, cores<>>, layers<all>>);
  SAME(mapping<dev<0, cores<1, -2, 1>>, layers<all>>);
  SAME(mapping<dev<0, cores<1, 2, 1>>, layers<all>>);
  SAME(mapping<dev<0, threads<0>>, layers<all>>);
  SAME(mapping<dev<0, threads<1025>>, layers<all>>);
  SAME(mapping<dev<0, gpu_at<-1>>, layers<all>>);
  SAME(mapping<dev<0, gpu>, layers<all>>);
  SAME(mapping<dev<0, gpu_at<2>>, layers<all>>);
  SAME(mapping<dev<0, cpu, memory<5>, int>, layers<foreign>>);
  SAME(mapping<dev<0, cpu, precision<cpu>>, layers<all>>);
  SAME(mapping<dev<0, cpu, precision<fp16>>, layers<all>>);
  SAME(mapping<dev<0, cpu, direct_convolutions>, layers<all>>);
  SAME(mapping<dev<0, cpu, memory<5_KiB>, direct_convolutions, on<"a">, direct_convolutions>, layers<all>>);
  SAME(mapping<dev<0, direct_convolutions>, layers<all>>);
  SAME(mapping<dev<0, cpu, memory<0>>, layers<foreign>>);
  SAME(mapping<dev<0, cpu, memory<-3>>, layers<all>>);
  SAME(mapping<dev<0>, layers<foreign>, in_flight<0>>);
  SAME(mapping<dev<0>, layers<all>, in_flight<-3>>);
  SAME(mapping<dev<0>, layers<all>, in_flight<1000001>>);
  SAME(mapping<in_flight<7>, dev<0>, layers<all>, in_flight<8>, in_flight<9>>);
  SAME(split<sample::network, points<>, in_flight<3>, dev<0>, in_flight<3>>);
  SAME(mapping<dev<0, cpu, memory<3>, memory<9223372036854775807>, on<"">>, layers<all>>);
  SAME(mapping<dev<0, cpu, on<"a">, direct_convolutions, on<"">, on<"c">>, layers<all>>);
  SAME(mapping<dev<0, cpu, on<"a">, direct_convolutions, on<"a">>, layers<all>>);
  SAME(mapping<dev<0>, layers<>, dev<1>, layers<range<sample::conv2, sample::conv1>, foreign>>);
  SAME(mapping<dev<0>, layers<all, range<sample::conv2, int>>>);
  SAME(mapping<dev<0>, layers<range<foreign, int>>>);
  SAME(mapping<dev<0>, layers<from<foreign>>>);
  SAME(mapping<dev<0>, layers<sample::image, to<foreign>>>);
  SAME(mapping<dev<0>, layers<>, dev<1>, layers<all, range<sample::conv2, sample::conv1>>>);
  SAME(mapping<dev<0>, layers<>, dev<1>, layers<all, all>>);
  SAME(split<sample::network, points<1, 0>, dev<0>>);
  SAME(split<sample::network, points<12>, dev<0>>);
  SAME(split<sample::network, points<2, 3, 3>, dev<0>>);
  SAME(split<sample::network, points<2>, dev<0>>);
  SAME(split<sample::network, points<>, dev<0>, dev<1>>);
  SAME(mapping<dev<0>, layers<sample::image>, dev<1>, layers<sample::image>>);
  SAME(mapping<dev<0>, layers<all>, dev<1>, layers<sample::add1, sample::conv1>>);
  SAME(mapping<dev<0>, layers<all>, dev<1>, layers<all>, dev<2>, layers<sample::image>>);
  SAME(mapping<dev<0>, layers<to<sample::conv1>, from<sample::conv2>>>);
  SAME(mapping<dev<0>, layers<sample::conv1>>);
}

// test/compile_fail has every mistake, each with a correct twin.
TEST(MappingText, TheCasesThatDoNotCompileAreMistakesAsText) {
  int cases = 0;
  for (const auto& file : std::filesystem::directory_iterator(DICE_COMPILE_FAIL)) {
    if (file.path().extension() != ".cpp") continue;
    std::ostringstream read;
    read << std::ifstream(file.path()).rdbuf();
    const auto source = read.str();
    const auto between = [&](const std::string& begin, const char* end) {
      const auto at = source.find(begin);
      if (at == std::string::npos) return std::string();
      return source.substr(at + begin.size(), source.find(end, at + begin.size()) - at - begin.size());
    };
    const auto name = between("// expect: dice::error::", "<");
    const auto wrong = between("#ifdef MISTAKE\nusing plan = ", "\n#"), right = between("#else\nusing plan = ", "\n#");
    if (wrong.empty() || right.empty() || source.find("sample::network, plan>(") == std::string::npos ||
        name == "memory_limit_less_than_plan" || name == "precision_not_possible")
      continue;  // not in this room, or only in builds with GPUs
    ++cases;
    SCOPED_TRACE(file.path());
    EXPECT_NE(told(wrong).find(name + ": "), std::string::npos) << told(wrong);
    EXPECT_EQ(told(right), "none");
  }
  EXPECT_GE(cases, 25);
}

TEST(MappingText, TellsWhatWhereAndTheRemedy) {
  EXPECT_EQ(told("maping<dev<0>>"),
            "line 1, column 1: not_a_mapping: 'maping<dev<0>>' is neither mapping<…> nor split<…> (did you mean "
            "'mapping'?); write mapping of dev and layers");
  EXPECT_EQ(told("split<vgg::network, points<a::b::id>, dev<0>>"),
            "line 1, column 7: split_of_another_network: 'vgg::network' is not the network sample; split the network passed "
            "to main");
  EXPECT_EQ(
      told("mapping<dev<0>, layrs<all>>"),
      "line 1, column 17: misplaced_entry: 'layrs<all>' is not an entry (did you mean 'layers'?); write devices followed by "
      "their work");
  EXPECT_EQ(told("mapping<\n  dev<0>,\n  in_flight<2>>"),
            "line 3, column 3: misplaced_entry: 'in_flight<2>' is where the work of the devices before it is expected; "
            "write devices followed by their work");
  EXPECT_EQ(
      told("mapping<dev<0>>"),
      "line 1, column 15: misplaced_entry: the last device has no work after it; write devices followed by their work");
  for (const char* text : {"mapping<>", "mapping<in_flight<3>>", "split<network, points<>, in_flight<2>>"})
    EXPECT_NE(told(text).find(": misplaced_entry: there is no device; "), std::string::npos) << told(text);
  EXPECT_EQ(
      told("mapping<layers<all>>"),
      "line 1, column 9: misplaced_entry: 'layers<all>' has no device before it; write devices followed by their work");
  EXPECT_EQ(told("split<network, points<3>, dev<0>, layers<all>>"),
            "line 1, column 35: misplaced_entry: 'layers<all>' is not allowed in split<…>: points already "
            "assign the layers; write devices followed by their work");
  EXPECT_EQ(told("mapping<dev<0>, layers<image>, dev<0>, layers<from<conv1>>>"),
            "line 1, column 32: rank_used_twice: two devices have rank 0; give each device a rank of its own or name it "
            "again with ranks");
  EXPECT_EQ(told("mapping<dev<1>, layers<all>>"),
            "rank_missing: no device has rank 0; number the ranks from 0 without gaps");
  EXPECT_EQ(
      told("mapping<dev<0, dice::cpuu>, layers<all>>"),
      "line 1, column 16: not_a_unit: 'dice::cpuu' is not a unit (did you mean 'cpu'?); write cpu or cores or threads or "
      "gpu");
  EXPECT_EQ(told("mapping<dev<0, cores<4, 4>>, layers<all>>"),
            "line 1, column 16: core_listed_twice: 'cores<4, 4>' has core 4 twice; list each core once");
  EXPECT_EQ(
      told("mapping<dev<0, cpu, memry<3>>, layers<all>>"),
      "line 1, column 21: not_a_limit: 'memry<3>' is not a limit (did you mean 'memory'?); write memory or precision or "
      "direct_convolutions or on a host");
  EXPECT_EQ(told("mapping<dev<0, cpu, direct_convolutions<1>>, layers<all>>"),
            "line 1, column 21: not_a_limit: 'direct_convolutions<1>' is not a limit (did you mean 'direct_convolutions'?); "
            "write memory or precision or direct_convolutions or on a host");
  for (const auto& [limit, says] : {std::pair("direct_convolution", " (did you mean 'direct_convolutions'?); "),
                                    std::pair("fp16", " (did you mean 'precision<fp16>'?); "),
                                    std::pair("precision<fp8>", ": the precisions are tf32, fp16 and bf16; ")})
    EXPECT_NE(told("mapping<dev<0, cpu, " + std::string(limit) + ">, layers<all>>")
                  .find(limit + ("' is not a limit" + std::string(says))),
              std::string::npos);
  EXPECT_EQ(told("mapping<dev<0>, layers<all>, in_flight<0>>"),
            "line 1, column 30: too_few_frames_in_flight: 'in_flight<0>' lets no frame in; let at least one frame be in "
            "flight");
  EXPECT_EQ(
      told("mapping<dev<0>, layers<all>, in_flight<2000000>>"),
      "line 1, column 30: too_many_frames_in_flight: 'in_flight<2000000>' lets too many frames in; let at most 1000000 "
      "frames be in flight");
  EXPECT_EQ(told("mapping<dev<0>, layers<all>, in_flight<2>, in_flight<5>>"),
            "line 1, column 44: in_flight_twice: 'in_flight<5>' says a second time how many frames may be in flight, after "
            "in_flight<2>; give the number of frames once");
  EXPECT_EQ(
      told("mapping<dev<0, cpu, memory<1>, memory<9000000000_GiB>>, layers<all>>"),
      "line 1, column 32: memory_limit_too_large: 'memory<9000000000_GiB>' of rank 0 is more than any memory; give less "
      "than 8 EiB");
  EXPECT_EQ(told("mapping<dev<0, cpu, memory<-9000000000_GiB>>, layers<all>>"),
            "line 1, column 9: memory_limit_not_positive: the limit of rank 0 is not a positive number of bytes; give a "
            "positive number of bytes");
  EXPECT_EQ(told("mapping<dev<0, cpu, on<\"\">>, layers<all>>"),
            "line 1, column 21: empty_host_name: 'on<\"\">' of rank 0 names no host; write the name of a host");
  EXPECT_EQ(told("mapping<dev<0, cpu, on<\"a\">, memory<1>, on<\"b\">>, layers<all>>"),
            "line 1, column 41: rank_on_two_hosts: 'on<\"b\">' is the second host of rank 0; name one host");
  EXPECT_EQ(
      told("mapping<dev<0>, layers<image, range<conv1, sample::con2>>>"),
      "line 1, column 44: not_a_layer_of_the_network: 'sample::con2' is not a layer of the network sample (did you mean "
      "'conv2'?); name layers of the network passed to main");
  EXPECT_EQ(
      told("mapping<dev<0>, layers<rang<image, conv1>>>"),
      "line 1, column 24: not_a_layer_of_the_network: 'rang' is not a layer of the network sample (did you mean 'range'?); "
      "name layers of the network passed to main");
  EXPECT_EQ(
      told("mapping<dev<0>, layers<range<sample::image<7>, scores<\"x\">>>>"),
      "line 1, column 30: not_a_layer_of_the_network: 'sample::image<7>' is not a layer of the network sample (did you mean "
      "'image'?); name layers of the network passed to main");
  EXPECT_EQ(told("mapping<dev<0>, layers<range<relu1, conv1>>>"),
            "line 1, column 30: range_backwards: 'relu1' comes after 'conv1'; swap first and last");
  EXPECT_EQ(told("split<sample::network, points<relu1::id, 40>, dev<0>>"),
            "line 1, column 42: split_point_out_of_range: point 40 is not between 0 and 12, the number of layers; keep "
            "points between 0 and the number of layers");
  EXPECT_EQ(told("mapping<dev<0>, layers<all>, dev<1>, layers<relu1>>"),
            "line 1, column 38: layer_in_two_lists: layer 'relu1' is in the lists of ranks 0 and 1; remove it from one of "
            "the layer lists");
  EXPECT_EQ(told("mapping<dev<0>, layers<all>, dev<1>, layers<relu1, fc1>>"),
            "line 1, column 38: layer_in_two_lists: layer 'relu1' is in the lists of ranks 0 and 1, and 1 other is in two "
            "lists, too; remove it from one of the layer lists");
  EXPECT_EQ(told("mapping<dev<0>, layers<to<relu1>, from<add1>>>"),
            "layer_without_device: layer 'conv2' is in no list; add it to a layers list");
  EXPECT_EQ(told("mapping<dev<0>, layers<to<relu1>>>"),
            "layer_without_device: layer 'conv2' and 8 others are in no list; add it to a layers list");
}

// Of several mistakes the first, and at its place.
TEST(MappingText, TellsTheFirstAtItsPlace) {
  const auto begins = [](const char* text, const std::string& with) { EXPECT_EQ(told(text).substr(0, with.size()), with); };
  begins("mapping<dev<0, cpu, memory<0>, memory<9000000000_GiB>>, layers<all>>",
         "line 1, column 9: memory_limit_not_positive: ");
  begins("mapping<dev<0>, layers<>, dev<1>, layers<>>", "line 1, column 17: empty_layer_list: ");
  begins("mapping<in_flight<1>, dev<0>, layers<all>, in_flight<2>>", "line 1, column 44: in_flight_twice: ");
  begins("mapping<dev<0>, layers<range<image, con2>>>", "line 1, column 37: not_a_layer_of_the_network: 'con2' is");
  begins("mapping<dev<0>, layers<sample::conv1::x>>", "line 1, column 24: not_a_layer_of_the_network: 'sample::conv1::x'");
  begins("mapping<dev<0>, layers<all>, dev<1>, layers<all>, dev<2>, layers<image>>",
         "line 1, column 38: layer_in_two_lists");
  begins("mapping<dev<0>, layers<image>, dev<1>, layers<from<conv1>>, dev<2>, layers<relu1>>",
         "line 1, column 69: layer_in");
  begins("mapping<dev<0>, layers<all, relu1>, dev<1>, layers<relu1>>", "line 1, column 45: layer_in_two_lists: ");
  begins("mapping<dev<0, cpu, precision<tf32>>, layers<all>>", "line 1, column 9: precision_not_possible: ");
  begins("mapping<dev<0, cpu, precision<fp8<1>>>, layers<all>>", "line 1, column 21: not_a_limit: 'precision<fp8<1>>' ");
  begins("mapping<dev<0, cpuu<3>>, layers<all>>", "line 1, column 16: not_a_unit: 'cpuu<3>' ");
  begins("split<network, points<3, 2>, dev<0>, dev<1>, dev<2>>", "line 1, column 26: split_points_unordered: ");
  begins("split<network, points<3>, dev<0>>", "split_points_do_not_fit_devices: 1 point is given for 1 device;");
  begins("split<network, points<3, 4>, dev<0>, dev<1>>",
         "split_points_do_not_fit_devices: 2 points are given for 2 devices;");
  for (const char* of : {"network::x", "sample::network::x", "sample::net"})
    begins(("split<" + std::string(of) + ", points<>, dev<0>>").c_str(), "line 1, column 7: split_of_another_network: ");
  const auto two = parse("mapping<dev<0, cpu, memory<7>>, layers<image>, dev<1, cpu, memory<5>>, layers<from<conv1>>>");
  for (const auto& [rank, said] :
       {std::pair(0, "line 1, column 9: memory_limit_less_than_plan: rank 0 needs at least 9 bytes, and may have 7;"),
        std::pair(1, "line 1, column 48: memory_limit_less_than_plan: rank 1 needs at least 9 bytes, and may have 5;")}) {
    const auto text = place::tell(two, {.what = place::mistake::memory_limit_less_than_plan, .number = rank, .bytes = 9});
    EXPECT_EQ(text.find(said), 0) << text;
  }
}

TEST(MappingText, ReadsBlanksCommentsNamesAndTheEnd) {
  for (const char* text :
       {"mapping<dev<0>,layers<all>>", " \t\r\n mapping < dev < 0 > , layers < all > > ; \n",
        "mapping<dev<0>, layers<all>>;", "using plan = dice::mapping<dice::dev<0, dice::cpu>, dice::layers<dice::all>>;\n",
        "\xef\xbb\xbfmapping<dev<0>, layers<all>>",
        "// all on one\nusing /* a name */ plan = mapping<dev<0>, // the only one\n layers</* all */all>>;// that is it",
        "::dice::mapping<::dice::dev<0>, layers<::sample::image, sample :: conv1, from<relu1>>>"})
    EXPECT_EQ(told(text), "none") << text;
}

TEST(MappingText, SaysWhatWasExpected) {
  const auto error = [](std::string_view text) { return test::error_of([&] { parse(text); }); };
  EXPECT_EQ(error(""), "line 1, column 1: expected mapping<…> or split<…>, found the end of the text");
  EXPECT_EQ(error("using plan mapping<>"), "line 1, column 12: expected '=' after the mapping's name, found 'mapping'");
  EXPECT_EQ(error("mapping"), "line 1, column 8: expected '<' after mapping, found the end of the text");
  EXPECT_EQ(error("mapping<3>"),
            "line 1, column 9: expected dev<…>, ranks<…>, in_flight<…>, or a work such as layers<…>, found '3'");
  EXPECT_EQ(error("mapping<dev>"), "line 1, column 12: expected '<' after dev, found '>'");
  EXPECT_EQ(error("mapping<dev<cpu>>"), "line 1, column 13: expected a rank (a whole number), found 'cpu'");
  EXPECT_EQ(error("mapping<dev<0 cpu>>"), "line 1, column 15: expected '>' or ',' after a part of dev<…>, found 'cpu'");
  EXPECT_EQ(error("mapping<dev<0, >>"),
            "line 1, column 16: expected a unit: cpu, cores<…>, threads<N>, gpu or gpu_at<N>, found '>'");
  EXPECT_EQ(error("mapping<dev<99999999999>>"), "line 1, column 13: '99999999999' is beyond 2147483647");
  EXPECT_EQ(error("mapping<dev<-99999999999>>"), "line 1, column 13: '-99999999999' is beyond -2147483648");
  EXPECT_EQ(error("mapping<dev<99999999999999999999>>"), "line 1, column 13: '99999999999999999999' is beyond 2147483647");
  EXPECT_EQ(error("mapping<dev<0, cpu, memory<5_MB>>>"), "line 1, column 28: '5_MB': write _KiB, _MiB or _GiB");
  EXPECT_EQ(error("mapping<dev<0, cpu, memory<lots>>>"), "line 1, column 28: expected bytes, such as 512_MiB, found 'lots'");
  EXPECT_EQ(error("mapping<dev<0, cpu, on<pi>>>"), "line 1, column 24: expected a host's name in quotes, found 'pi'");
  EXPECT_EQ(error("mapping<dev<0, cpu, on<\"pi>>>"),
            "line 1, column 24: this string does not end, or has a \\ before what is neither \" nor \\");
  EXPECT_EQ(error("mapping<dev<0, cpu, on<\"pi\\n\">>>"),
            "line 1, column 24: this string does not end, or has a \\ before what is neither \" nor \\");
  EXPECT_EQ(error("\xef\xbb\xbfmapping<3>"),
            "line 1, column 9: expected dev<…>, ranks<…>, in_flight<…>, or a work such as layers<…>, found '3'");
  EXPECT_EQ(error("mapping<dev<0>, layers<range<image>>>"),
            "line 1, column 35: expected ',' after the first layer of a range, found '>'");
  EXPECT_EQ(error("mapping<dev<0>,\n  layers<all>"),
            "line 2, column 14: expected '>' or ',' after an entry, found the end of the text");
  EXPECT_EQ(error("mapping<dev<0>, layers<all>> mapping"),
            "line 1, column 30: expected the end of the text after the mapping, found 'mapping'");
  EXPECT_EQ(error("mapping</* dev"), "line 1, column 9: this comment does not end");
  EXPECT_EQ(error("mapping<foo<bar<1>, dev<0>>"),
            "line 1, column 28: expected '>' or ',' after an entry, found the end of the text");
  EXPECT_EQ(error("mapping<foo<bar<1>"), "line 1, column 12: this '<' has no '>'");
  EXPECT_EQ(error("/* ü */ mapping<ü>"),
            "line 1, column 17: expected dev<…>, ranks<…>, in_flight<…>, or a work such as layers<…>, found '\\xc3'");
  EXPECT_EQ(error("split<sample::network, 3>"), "line 1, column 24: expected points<…>, found '3'");
  EXPECT_EQ(error("split<sample::network, points<con2::id>, dev<0>>"),
            "line 1, column 31: 'con2::id' is not a layer's id in the network sample");
  for (const std::string point : {"othernet::conv2::id", "sample::sample::id", "conv2::sample::id"})
    EXPECT_EQ(error("split<sample::network, points<" + point + ">, dev<0>>"),
              "line 1, column 31: '" + point + "' is not a layer's id in the network sample");
  for (const std::string point : {"sample::conv2::name", "sample::conv2::id::id", "a::sample::conv2::id", "id"})
    EXPECT_EQ(error("split<sample::network, points<" + point + ">, dev<0>>"),
              "line 1, column 31: expected a layer's id, such as 3 or sample::conv3::id, found '" + point + "'");
  EXPECT_EQ(error("split<sample::network, points<conv2>, dev<0>>"),
            "line 1, column 31: expected a layer's id, such as 3 or sample::conv3::id, found 'conv2'");
}

TEST(MappingText, WhatBeginsAsAMappingIsNoFile) {
  for (const char* text : {"mapping<", "split<net", " dice::mapping <dev<0>>", "using plan = dice::mapping<",
                           "/* mine */ split<", "\xef\xbb\xbfmapping<"})
    EXPECT_TRUE(place::is_mapping_text(text)) << text;
  for (const char* text :
       {"", "mapping", "mapping.txt", "./mapping<", "split", "splits<", "using", "using x = y", "/", "a b", "::"})
    EXPECT_FALSE(place::is_mapping_text(text)) << text;
}

// A random mapping is written, read and written again.
TEST(MappingText, RandomMappingsComeBackAsTheyWere) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 draw(seed);
    const auto below = [&](int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); };
    const int ranks = 1 + below(5);
    std::vector<int> owner(net::size);
    for (int l = 0; l < net::size; ++l) owner[l] = l < ranks ? l : below(ranks);
    std::vector<platform::device> devices;
    const std::vector<int> numbers{3, 1, 4, 15, 9, 2, 6};
    for (int r = 0; r < ranks; ++r) {
      platform::device d{.rank = r};
      using kind = platform::unit::kind;
      switch (below(3)) {
        case 0:
          break;
        case 1:
          d.unit = {kind::threads, 1 + below(9)};
          break;
        case 2:
          d.cores = std::span(numbers).first(static_cast<std::size_t>(1 + below(7)));
          d.unit = {kind::cores, static_cast<int>(d.cores.size())};
          break;
      }
      if (below(2)) d.memory_limit = 1 + static_cast<std::int64_t>(draw()) * below(1 << 20);
      d.unit.direct = seed % 3 == 0;
      if (below(2)) d.host = r % 2 ? "pi-a.lan" : "na\"n\\o";
      devices.push_back(d);
    }
    const int in_flight = 1 + below(20);
    const auto drawn = place::mapping_of(owner, devices, in_flight);
    EXPECT_FALSE(place::check(drawn.values(), view));
    const auto text = place::write(drawn.values(), net::name, view);
    const auto read = parse("using plan = " + text + ";\n");
    ASSERT_FALSE(place::check(read.values(), view)) << text;
    const auto p = placed_by(read.values());
    EXPECT_EQ(p.owner, owner);
    ASSERT_EQ(p.devices.size(), devices.size());
    for (std::size_t r = 0; r < devices.size(); ++r) expect_same(p.devices[r], devices[r]);
    EXPECT_EQ(p.in_flight, in_flight);
    EXPECT_EQ(place::write(read.values(), net::name, view), text);
  }
}

/// A device keeps its numbers, whether or not it has other limits; layers that follow one another are one list.
TEST(MappingText, PlacementsAreWrittenWithTheirLimits) {
  std::vector<int> owner(net::size, 1);
  owner[0] = 0;
  const platform::device devices[]{
      {.rank = 0},
      {.rank = 1, .unit = {.what = platform::unit::kind::gpu, .precision = platform::numbers::fp16}, .memory_limit = 1}};
  const auto text = [&](int in_flight) {
    return place::write(place::mapping_of(owner, devices, in_flight).values(), net::name, view);
  };
  const std::string placed =
      "dice::mapping<\n    dice::dev<0, dice::cpu>, dice::layers<sample::image>,\n    dice::dev<1, dice::gpu, "
      "dice::memory<1>, dice::precision<dice::fp16>>, dice::layers<dice::range<sample::conv1, sample::scores>>";
  EXPECT_EQ(text(place::default_in_flight(2)), placed + ">");
  EXPECT_EQ(text(1), placed + ",\n    dice::in_flight<1>>");
}

TEST(MappingText, SplitsAndLimitsComeBack) {
  for (const char* text :
       {"dice::split<sample::network, dice::points<3, 5>,\n    dice::dev<1, dice::cpu>,\n    dice::dev<0, dice::threads<2>, "
        "dice::memory<5>, dice::memory<4>>,\n    dice::in_flight<2>,\n    dice::dev<2, dice::gpu_at<1>, "
        "dice::precision<dice::fp16>, dice::direct_convolutions, dice::on<\"a\\\\\\\"\">>>",
        "dice::mapping<\n    dice::in_flight<4>,\n    dice::dev<0, dice::gpu>, dice::layers<sample::relu1, "
        "dice::range<sample::image, sample::conv1>>>"})
    EXPECT_EQ(place::write(parse(text).values(), net::name, view), text);
}

std::string repeated(const std::string& what, std::size_t times) {
  std::string out;
  out.reserve(what.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += what;
  return out;
}

TEST(MappingText, HostileTextsAreRefusedSoon) {
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t most = place::max_text;
  const std::string nul(1, '\0');
  for (const std::string& text : {
           std::string(most, '<'),
           "mapping" + std::string(most - 7, '<'),
           "mapping<" + repeated("a<", most / 2 - 8),
           "mapping<dev<0>, layers<" + repeated("range<", most / 6 - 8),
           "mapping<dev<0, " + repeated("cores<", most / 6 - 8),
           "mapping<" + repeated("dev<0>,", most / 7 - 8),
           "mapping<" + repeated("dev<0>,layers<all>,", 2047) + "dev<0>,layers<all>>",
           "mapping<dev<0>,layers<" + repeated("all,", most / 4 - 20),
           "mapping<dev<0>,layers<" + repeated("all,", static_cast<std::size_t>(place::max_layer_entries - 2)) +
               "all>,dev<1>,layers<all>>",
           "mapping<dev<0,cores<" + repeated("1,", most / 2 - 20),
           "mapping<dev<0>,layers<" + std::string(most - 40, 'x') + ">>",
           "mapping<" + repeated("x::", most / 3 - 20) + "y>",
           "mapping<dev<0>,ranks<" + repeated("0,", most / 2 - 20),
           "mapping<dev<0>,ranks<" + repeated("0,", 60000) + "0>,layers<all>>",
           "mapping<" + repeated("dev<0>,ranks<0>,", 2000) + "rows<all>>",
           "mapping<dev<0>,rows<all,shares<" + repeated("1,", most / 2 - 40),
           "mapping<dev<0>,rows<all," + repeated("shares<1>,", most / 10 - 40),
           "mapping<dev<0>,rows<all," + repeated("exchange_every<1>,", most / 20),
           "mapping<dev<0>,tiles<" + repeated("tiles<", most / 6 - 40),
           std::string("mapping<dev<0>,tiles<99999,99999,all>>"),
           "split<network,points<" + repeated("1,", most / 2 - 20),
           std::string(most, ' '),
           std::string(most, '\n') + "x",
           repeated("/*", most / 2),
           repeated("//\n", most / 3),
           "mapping<dev<" + std::string(most - 20, '9') + ">>",
           nul,
           "mapping<" + nul + ">",
           "mapping<dev<0>,layers<all>>" + nul,
           "mapping<dev<0, cpu, on<\"" + nul + "\">>, layers<all>, " + nul,
           std::string("\xff\xfe\xfd"),
       }) {
    const auto said = told(text);
    EXPECT_NE(said, "none") << text.substr(0, 40);
    EXPECT_LT(said.size(), 400u) << said;
    place::is_mapping_text(text);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));

  // Pieces of mappings in random order, and mappings with replaced bytes.
  const std::vector<std::string> pieces{"mapping",
                                        "split",
                                        "dev",
                                        "layers",
                                        "<",
                                        ">",
                                        ",",
                                        "0",
                                        "1",
                                        "-1",
                                        "cpu",
                                        "cores",
                                        "memory",
                                        "range",
                                        "image",
                                        "sample::",
                                        "scores",
                                        "all",
                                        ";",
                                        "\"",
                                        "in_flight",
                                        "points",
                                        "network",
                                        "::",
                                        "id",
                                        "_MiB",
                                        " ",
                                        "ranks",
                                        "rows",
                                        "tiles",
                                        "shares",
                                        "exchange_every",
                                        "output_channels"};
  const std::string whole =
      "split<sample::network, points<relu1::id>, dev<0, cores<1>, memory<1_MiB>, on<\"a\">>, dev<1, gpu>>";
  std::mt19937 draw(1);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    if (i % 2) {
      for (unsigned n = draw() % 30; n > 0; --n) text += pieces[draw() % pieces.size()];
    } else {
      text = whole;
      for (unsigned n = 1 + draw() % 3; n > 0; --n) text[draw() % text.size()] = static_cast<char>(draw());
    }
    told(text);
    place::is_mapping_text(text);
  }
}

}  // namespace
