// The command line and comparisons, without running anything.
#include "runtime/toy.hpp"

#include "convolutions.hpp"
#include "dice/app/agreed_options.hpp"
#include "dice/app/command_line.hpp"
#include "dice/app/help.hpp"
#include "dice/app/results.hpp"
#include "dice/assembly/program_of.hpp"
#include "dice/runtime/other_mapping.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace dice;

namespace {

app::options parse(const toy::program& p, std::vector<const char*> words) { return app::parse(p.view(), words); }

std::string error_of(const toy::program& p, std::vector<const char*> words) {
  try {
    parse(p, std::move(words));
    return {};
  } catch (const runtime::usage_error& e) {
    return e.what();
  }
}

const toy::program& one() {
  static const toy::program p(toy::diamond(), {0, 0, 0, 1, 1, 0, 0, 1, 0, 0}, 6);
  return p;
}
const toy::program& two() {
  static const toy::program p(toy::two_by_two(), {0, 0, 0, 0, 0, 0, 0, 0}, 1);
  return p;
}

}  // namespace

#ifdef DICE_WITH_OPENMP
// A program uses the algorithms with which its plan stays within the device's memory limit.
template <class... Limit>
constexpr auto& programs = assembly::program_of<convolutions::network, mapping<dev<0, cpu, Limit...>, layers<all>>>;
constexpr std::int64_t peak = programs<>.plan.ranks[0].peak_bytes;
static_assert(programs<>.algorithm(1).variant > 0 && programs<memory<peak - 1>>.algorithm(1).variant == 0);
#endif

// "rank 1 runs " + the first, " rank 0 " + the second
using difference = std::pair<std::string, std::string>;
difference first_difference(std::vector<const char*> a, std::vector<const char*> b) {
  const auto one_rank = app::agreed_options(parse(one(), std::move(a)), ""),
             other = app::agreed_options(parse(one(), std::move(b)), "");
  for (std::size_t i = 0; i < one_rank.size(); ++i)
    if (one_rank[i] != other[i]) return {one_rank[i].first + one_rank[i].second, other[i].first + other[i].second};
  return {};
}

TEST(agreed_options, say_what_ranks_were_given) {
  const std::vector<const char*> plain{"--random", "1"};
  const auto with = [&](std::vector<const char*> more) {
    more.insert(more.begin(), plain.begin(), plain.end());
    return more;
  };
  EXPECT_EQ(first_difference(plain, plain), difference());
  EXPECT_EQ(first_difference(plain, with({"--stop-timeout", "9", "--json", "x", "--any-numbers"})), difference());
  const std::pair<std::vector<const char*>, const char*> numbers[]{{{"--frames", "9"}, "--frames"},
                                                                   {{"--warmup", "2"}, "--warmup"},
                                                                   {{"--in-flight", "3"}, "--in-flight"},
                                                                   {{"--frame-timeout", "0.001"}, "--frame-timeout"},
                                                                   {{"--frame-timeout", "1000000"}, "--frame-timeout"}};
  for (const auto& [words, name] : numbers)
    EXPECT_EQ(first_difference(plain, with(words)),
              difference(std::string("without ") + name, std::string("with ") + name + " " + words[1]));
  EXPECT_EQ(first_difference(with({"--frame-timeout=0.25"}), with({"--frame-timeout=0.5"})),
            difference("with --frame-timeout 0.25", "with --frame-timeout 0.5"));
  for (const char* name : {"--verify", "--check-numbers", "--gather", "--explain"}) {
    auto other = with({name});
    auto usual = plain;
    if (name == std::string("--explain"))  // which has a number of frames of its own
      for (auto* words : {&other, &usual}) words->insert(words->end(), {"--frames", "9", "--warmup", "0"});
    EXPECT_EQ(first_difference(other, usual), difference(std::string("with ") + name, std::string("without ") + name));
  }
  for (const char* name : {"--trace", "--profile"})
    EXPECT_EQ(first_difference(with({name, "file"}), plain),
              difference(std::string("with ") + name, std::string("without ") + name));
  app::options aware;
  aware.cuda_aware = true;
  const auto without = app::agreed_options({}, ""), with_it = app::agreed_options(aware, "");
  EXPECT_TRUE(std::equal(without.begin(), without.end(), with_it.begin(), [](const auto& a, const auto& b) {
    return a == b || (a.second == "without --cuda-aware" && b.second == "with --cuda-aware");
  }));
  EXPECT_NE(without, with_it);
  EXPECT_EQ(first_difference({"--measure", "file"}, plain), difference("with --measure", "without --measure"));
  EXPECT_EQ(first_difference({"--input", "-"}, plain),
            difference("with a stream of frames (--input -, --source)", "without a stream of frames (--input -, --source)"));
  const std::pair<const char*, const char*> printing[]{{"-h", "--help"},
                                                       {"--version", "--version"},
                                                       {"--plan", "--plan"},
                                                       {"--plan=svg", "--plan=svg"},
                                                       {"--search", "--search=throughput"},
                                                       {"--search=latency", "--search=latency"}};
  for (const auto& [given, said] : printing)
    EXPECT_EQ(first_difference(plain, with({given})),
              difference("to compute frames", std::string("with ") + said + ", which runs no frames"));
  // A rank that only verifies computes no frames, whatever else is alike.
  EXPECT_EQ(first_difference(with({"--verify"}), {"--verify"}),
            difference("to compute frames", "with --verify and without frames"));
  EXPECT_EQ(app::agreed_options(parse(one(), plain), "").back().second, "for no results");
  EXPECT_EQ(app::agreed_options(parse(one(), plain), "a, b").back().second, "for the results of a, b");
}

TEST(version, is_the_same_in_identifiers) {
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
  std::string identifier = TEXT(DICE_VERSION);
  std::replace(identifier.begin(), identifier.end(), '_', '.');
  EXPECT_EQ(identifier, version);
}

TEST(command_line, options) {
  const auto o = parse(one(), {"--input",
                               "a.npy",
                               "--input=in.0=b=c.npy",
                               "--output",
                               "l9=o.npy",
                               "--frames",
                               "12",
                               "--warmup=3",
                               "--in-flight",
                               "6",
                               "--expect",
                               "e.npy",
                               "--tolerance",
                               "2e-3",
                               "--top",
                               "5",
                               "--labels",
                               "names",
                               "--json",
                               "j",
                               "--transport",
                               "in-process",
                               "--gather",
                               "--weights",
                               "w"});
  ASSERT_EQ(o.inputs.size(), 2u);
  EXPECT_EQ(o.inputs[0].file, "a.npy");
  EXPECT_EQ(o.inputs[1].file, "b=c.npy");
  EXPECT_EQ(o.outputs[0].layer, 9);
  EXPECT_EQ(o.outputs[0].file, "o.npy");
  EXPECT_EQ(o.frames, 12);
  EXPECT_EQ(o.warmup, 3);
  EXPECT_EQ(o.in_flight, 6);
  EXPECT_EQ(o.tolerance, 2e-3);
  EXPECT_EQ(o.top_of(9), 5);
  EXPECT_EQ(parse(one(), {"--random", "18446744073709551615"}).random, std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(o.gather);
  EXPECT_EQ(o.by, channels::transport::in_process);
  EXPECT_EQ(parse(one(), {"--input", "./x=y.npy"}).inputs[0].file, "./x=y.npy");
  EXPECT_EQ(parse(one(), {"--plan=json"}).plan, app::plan_form::json);
  EXPECT_EQ(parse(one(), {"--plan"}).plan, app::plan_form::text);
}

TEST(command_line, lists_the_transports) {
  using info = channels::transport_info;
  using names = app::transport_words<&info::word, "one of ", ", ", " and ">;
  EXPECT_EQ(names::view, "one of mpi and in-process");
  const auto table = app::detail::option_table();
  const auto found = std::find_if(table.begin(), table.end(), [](const auto& o) { return o.name == "--transport"; });
  EXPECT_EQ(found->value, "mpi|in-process");
  EXPECT_EQ(found->help, "ranks as MPI processes, or as threads of this process");
  try {
    parse(one(), {"--transport", "mail"});
    FAIL();
  } catch (const runtime::usage_error& e) {
    EXPECT_STREQ(e.what(), "--transport: 'mail' is neither mpi nor in-process");
  }
}

TEST(command_line, names) {
  const auto o = parse(two(), {"--input", "in.1=a", "--input", "l0=b", "--input", "in.1=c", "--output", "out.7=d"});
  EXPECT_EQ(o.inputs[0].layer, 1);
  EXPECT_EQ(o.inputs[1].layer, 0);
  EXPECT_EQ(o.inputs[2].layer, 1);
  EXPECT_EQ(o.outputs[0].layer, 7);
  EXPECT_NE(error_of(two(), {"--random", "1", "--output", "x"}).find("out.5, out.7"), std::string::npos);
  EXPECT_NE(error_of(two(), {"--random", "1", "--output", "out.5="}).find("missing"), std::string::npos);
  EXPECT_NE(error_of(two(), {"--random", "1", "--output", "out.5=x", "--output", "out.7=x"}).find("written twice"),
            std::string::npos);
  for (const char* option : {"--output", "--expect"})
    EXPECT_NE(error_of(two(), {"--random", "1", option, "out.5=x", option, "out.5=y"}).find("has two files, 'x' and 'y'"),
              std::string::npos);
  EXPECT_EQ(error_of(two(), {"--random", "1", "--input", "in.1=a"}), "");
  const auto no_input = "--random makes frames for inputs without a file, but every input has one; omit it";
  EXPECT_EQ(error_of(two(), {"--random", "1", "--input", "in.1=a", "--input", "in.0=a"}), no_input);
  EXPECT_EQ(error_of(one(), {"--random", "1", "--input", "-"}), no_input);
}

TEST(command_line, outputs_that_top_lists) {
  const auto with = [](const std::vector<const char*>& values) {
    std::vector<const char*> words{"--random", "1"};
    for (const auto* v : values) words.insert(words.end(), {"--top", v});
    return words;
  };
  const auto tops = [&](const std::vector<const char*>& values) {
    const auto o = parse(two(), with(values));
    return std::pair(o.top_of(5), o.top_of(7));
  };
  EXPECT_EQ(tops({}), std::pair(0, 0));
  EXPECT_EQ(tops({"3"}), std::pair(3, 3));
  EXPECT_EQ(tops({"out.7=2"}), std::pair(0, 2));
  EXPECT_EQ(tops({"out.7=2", "out.5=4"}), std::pair(4, 2));
  EXPECT_EQ(tops({"out.7=2", "3"}), std::pair(3, 2));
  EXPECT_EQ(tops({"3", "out.7=2"}), std::pair(3, 2));
  const auto refusal = [&](const std::vector<const char*>& values) { return error_of(two(), with(values)); };
  EXPECT_EQ(refusal({"out.6=1"}),
            "--top: 'out.6=1': the network has no output 'out.6'; did you mean out.5=1? its outputs are out.5, out.7");
  for (const std::string word : {"out.5=", "out.5=x", "out.5=0"})
    EXPECT_EQ(refusal({word.c_str()}).find("--top: '" + word + "' is not a whole number from 1 to "), 0u);
  EXPECT_EQ(refusal({"out.5=33"}), "--top: 'out.5=33' is more than the numbers of a result, 32; ask for at most 32");
  EXPECT_EQ(refusal({"out.5=1", "out.5=2"}), "--top: output out.5 has two numbers, 1 and 2; give one");
  EXPECT_EQ(refusal({"1", "2"}), "--top: all outputs have two numbers, 1 and 2; give one");
}

TEST(command_line, ranks_to_pack) {
  EXPECT_EQ(parse(one(), {"--pack", "p"}).ranks, std::vector<int>{});
  EXPECT_EQ(parse(one(), {"--pack", "p", "--ranks", "0-1"}).ranks, (std::vector{0, 1}));
  EXPECT_EQ(error_of(one(), {"--pack", "p", "--ranks", "0,9"}),
            "--ranks: '0,9' is not a list of ranks from 0 to 1, ascending, such as 0,2 or 0-3");
  EXPECT_EQ(error_of(one(), {"--random", "1", "--ranks", "0"}), "--ranks needs --pack FILE");
}

TEST(command_line, refusals_name_the_option) {
  EXPECT_EQ(error_of(one(), {"--random", "1", "--top", "9999"})
                .find("--top: '9999' is more than the numbers of a result, 32; ask for at most 32"),
            0u);  // frames of 2×32 are two pictures
  for (const char* option : {"--frames", "--warmup", "--in-flight", "--top", "--tolerance", "--random"})
    for (const char* value : {"x", "", "1x", " 1", "-1", "99999999999999999999999999", "0x10"}) {
      if (option == std::string("--tolerance") && value[0] == '9') continue;  // a number
      const auto text = error_of(one(), {option, value, "--input", "a", "--expect", "b"});
      EXPECT_NE(text.find(option), std::string::npos) << option << " '" << value << "': " << text;
    }
  for (const char* option : {"--frames", "--in-flight", "--top"}) {  // the least that they take
    EXPECT_NE(error_of(one(), {option, "0", "--input", "a"}).find(option), std::string::npos) << option;
    EXPECT_EQ(error_of(one(), {option, "1", "--input", "a"}), "");
  }
  EXPECT_EQ(error_of(one(), {"--warmup", "0", "--input", "a"}), "");
  EXPECT_NE(error_of(one(), {"--input", "a", "--in-flight", "7"}).find("allows, 6"), std::string::npos);
  EXPECT_NE(error_of(one(), {"--input"}).find("missing"), std::string::npos);
  EXPECT_NE(error_of(one(), {"--input="}).find("missing"), std::string::npos);
  EXPECT_NE(error_of(one(), {"--framse", "1"}).find("--frames?"), std::string::npos);
  EXPECT_NE(error_of(one(), {"-x"}).find("--help"), std::string::npos);
  EXPECT_NE(error_of(one(), {"--input", "x=y.npy"}).find("no input 'x'; its input is in.0"), std::string::npos);
  EXPECT_NE(error_of(one(), {}).find("--random SEED"), std::string::npos);
  EXPECT_EQ(error_of(one(), {"--plan="}), "--plan: the value is missing: write --plan=json|steps|dot|svg");
  EXPECT_EQ(error_of(one(), {"--json="}), "--json: the value is missing: write --json FILE");
  EXPECT_EQ(error_of(one(), {"--plan", "json"}), "unexpected argument 'json'; did you mean --plan=json?");
  EXPECT_EQ(error_of(one(), {"--search", "energy"}), "unexpected argument 'energy'; did you mean --search=energy?");
  EXPECT_EQ(error_of(one(), {"--std", "1e-39"}),
            "--std: '1e-39' is not a number from 1.18e-38 to 3.4e38, or three with commas between them");
  for (const char* option : {"--in-flight", "--top"})
    EXPECT_EQ(error_of(one(), {option, "2147483648"}),
              std::string(option) + ": '2147483648' is not a whole number from 1 to 2147483647");
}

TEST(command_line, help_names_all_options_and_tensors) {
  auto program = one().view();
  EXPECT_EQ(app::help(program, "program").find("--mapping"), std::string::npos);  // it has no other mappings
  program.remap = [](const runtime::program&, std::string_view) { return runtime::owned_mapping{}; };
  const auto text = app::help(program, "/a/b/program");
  for (const auto& o : app::detail::option_table())
    EXPECT_NE(text.find("  " + std::string(o.name)), std::string::npos) << o.name;
  EXPECT_NE(text.find("mpirun -n 2 ./program"), std::string::npos);
  EXPECT_NE(text.find("in.0  float32 2×32"), std::string::npos);
  EXPECT_NE(app::help(program, "/a/b\nc").find("mpirun -n 2 ./b\\x0ac --input"), std::string::npos);
}

TEST(results, error_of) {
  const frames::tensor b{{1, -4}, {2, 0}};
  EXPECT_EQ(app::error_of(b, b), 0);
  EXPECT_FLOAT_EQ(static_cast<float>(app::error_of(frames::tensor{{1, -4}, {2, 1}}, b)), 0.25f);
  EXPECT_EQ(app::error_of(frames::tensor{{1, -4}, {2, 0}, {1, -4}, {4, 0}}, b), 0.5);
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(app::error_of(frames::tensor{{nan, -4}, {2, 0}}, b)));
  EXPECT_TRUE(std::isnan(app::error_of(frames::tensor{{inf, 1}}, frames::tensor{{inf, 1}})));
  EXPECT_EQ(app::error_of(frames::tensor{{3, 0}}, frames::tensor{{0, 0}}), 3);
  EXPECT_EQ(app::error_of(frames::tensor{{1.5f, -4}, {7, 0}}, b, tensor::number::int64), 0.25);  // one of four differs
  EXPECT_EQ(app::error_of(frames::tensor{3e9f}, frames::tensor{2147483648.0f}, tensor::number::int32), 0);  // saturated
}

TEST(results, top) {
  const float nan = std::nanf("");
  EXPECT_EQ((app::top_list{"", 3, 1, {"a", "b"}}.text(frames::tensor{{1, 3, 3, nan}, {nan, -1, 0, 2}}, 2)),
            "frame 0: 1 b 3, 2 3, 0 a 1\nframe 1: 3 2, 2 0, 1 b -1\n");
  EXPECT_EQ((app::top_list{"y", 9}.text(frames::tensor{{1, 2}}, 1)), "frame 0 y: 1 2, 0 1\n");
  EXPECT_EQ((app::top_list{"", 2}.text(frames::tensor{{-nan, nan}}, 1)), "frame 0: 0 nan, 1 nan\n");
  EXPECT_EQ((app::top_list{"", 2, 1, {"a", "b"}, true}.text(frames::tensor{{2, 0, 1, 2, 1, 1}, {-1, 3, 3, 3, 0, 3}}, 2)),
            "frame 0: 1 b 3, 2 2\nframe 1: 3 4, -1 1\n");
}

TEST(results, top_of_each_picture_of_a_batch) {
  const frames::tensor two_frames{{1, 2, 3}, {6, 5, 4}, {7, 9, 8}, {0, 0, 1}};
  const std::vector<std::string> pictures{"a", "b", "c", "d"};
  EXPECT_EQ((app::top_list{"", 1, 2, {"x", "y", "z"}}.text(two_frames, 2, pictures, 2)),
            "frame 0 [0] (a): 2 z 3\nframe 0 [1] (b): 0 x 6\nframe 1 [0] (c): 1 y 9\nframe 1 [1] (d): 2 z 1\n");
  EXPECT_EQ((app::top_list{"s", 1, 2}.text(two_frames, 2, std::vector<std::string>{"a", ""}, 2)),  // they repeat
            "frame 0 [0] (a) s: 2 3\nframe 0 [1] s: 0 6\nframe 1 [0] (a) s: 1 9\nframe 1 [1] s: 2 1\n");
  EXPECT_EQ((app::top_list{"", 1}.text(two_frames, 2, pictures, 2)), "frame 0 (a, b): 3 6\nframe 1 (c, d): 1 9\n");
}

TEST(results, rows_of_batches) {
  const auto rows = [](std::vector<tensor::shape> inputs, const tensor::shape& output) {
    std::vector<graph::layer_info> layers(inputs.size() + 1);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      layers[i].output = tensor::type(inputs[i]);
      layers[i].is_input = true;
    }
    layers.back().output = tensor::type(output);
    layers.back().is_output = true;
    return app::rows_of({layers, {}}, static_cast<int>(inputs.size()));
  };
  EXPECT_EQ(rows({{8, 3, 4, 4}}, {8, 10}), 8);
  EXPECT_EQ(rows({{8, 3, 4, 4}, {8, 2}}, {8, 10, 1, 1}), 8);
  EXPECT_EQ(rows({{1, 3, 4, 4}}, {1, 10}), 1);
  EXPECT_EQ(rows({{1, 3, 4, 4}}, {100, 6}), 1);  // no batch: boxes
  EXPECT_EQ(rows({{8, 3, 4, 4}, {1, 2}}, {8, 10}), 1);
  EXPECT_EQ(rows({{8, 3, 4, 4}}, {8}), 1);
  EXPECT_EQ(rows({}, {8, 10}), 1);
}

TEST(results, labels_are_read_from_regular_files_only) {
  const std::string folder = "/tmp/dice_labels_" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  const auto error_of = [](const std::string& path) -> std::string {
    try {
      app::read_labels(path);
      return {};
    } catch (const std::runtime_error& e) {
      return e.what();
    }
  };
  const std::string pipe = folder + "/pipe", large = folder + "/large", good = folder + "/good";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::ofstream(large).put('x');
  std::filesystem::resize_file(large, (16 << 20) + 1);  // a hole
  const std::string remedy =
      "; give --labels a file with one name per line, on this host (FILES of dice_add_deployment brings it there)";
  for (const auto& path : {pipe, folder, std::string("/dev/zero")})
    EXPECT_EQ(error_of(path), "labels file '" + path + "' is a folder, a pipe or a device" + remedy);
  EXPECT_EQ(error_of(large), "labels file '" + large + "' has more than 16 MiB" + remedy);
  EXPECT_EQ(error_of(good), "labels file '" + good + "' cannot be opened: No such file or directory" + remedy);
  std::ofstream(good) << "a\r\nb";
  EXPECT_EQ(app::read_labels(good), (std::vector<std::string>{"a", "b"}));
  std::filesystem::remove_all(folder);
}
