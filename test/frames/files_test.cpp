// Frames from files and from seeds, results to files.
#include "dice/frames/npy.hpp"
#include "dice/frames/npy_stream.hpp"
#include "dice/frames/numbers.hpp"
#include "dice/frames/shape_remedy.hpp"
#include "dice/frames/sink.hpp"
#include "dice/frames/source.hpp"
#include "dice/frames/tensor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace dice;

namespace {

struct scratch {
  std::string path = "/tmp/dice_frames_" + std::to_string(::getpid()) + ".npy";
  ~scratch() { ::unlink(path.c_str()); }
  void write(const std::string& bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
  std::string read() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

/// A .npy file of version `version` with this dictionary and `numbers` floats 0, 1, 2, …
std::string npy(const std::string& dictionary, int numbers, int version = 1) {
  std::string header = dictionary;
  while ((header.size() + 11 + (version > 1 ? 2 : 0)) % 64) header += ' ';
  header += '\n';
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  for (int i = 0; i < (version > 1 ? 4 : 2); ++i) out += static_cast<char>(header.size() >> (8 * i));
  out += header;
  for (int i = 0; i < numbers; ++i) {
    const auto x = static_cast<float>(i);
    out.append(reinterpret_cast<const char*>(&x), 4);
  }
  return out;
}

std::string error_of(const scratch& file, const tensor::shape& one) {
  try {
    frames::read_frames(file.path, one, "input 'x'");
    return {};
  } catch (const files::error& e) {
    return e.what();
  }
}

}  // namespace

TEST(frames, of_files) {
  const scratch file;
  file.write(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }", 12));
  auto t = frames::read_frames(file.path, {2, 3}, "x");
  EXPECT_EQ(t.shape()[0], 4u);
  EXPECT_EQ(t(3, 1), 10.0f);
  file.write(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (4, 3), }", 12, 2));
  t = frames::read_frames(file.path, {2, 3}, "x");
  EXPECT_EQ(t(3, 1), 7.0f);              // the eighth number of the file
  EXPECT_EQ(t.data()[3 * 3 + 1], 7.0f);  // row-major here
  file.write(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }", 5));
  EXPECT_EQ(frames::frames_in(frames::read_frames(file.path, {}, "x").shape(), {}), 5);  // frames that are scalars
  file.write(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 1));
  for (const auto& one : {tensor::shape(), tensor::shape{1}})
    EXPECT_EQ(frames::frames_in(frames::read_frames(file.path, one, "x").shape(), one), 1);
  EXPECT_THROW(frames::read_frames(file.path, {1, 1}, "x"), files::error);
  // Headers of any length, members in any order. Version 2 has four bytes for the length.
  for (const std::size_t length : {0, 60, 120, 250, 400, 70'000}) {
    const std::string blanks(length, ' ');
    file.write(npy("{'shape': (4, 3), " + blanks + "'fortran_order': True, 'descr': '<f4'}", 12, length > 300 ? 2 : 1));
    EXPECT_EQ(frames::read_frames(file.path, {2, 3}, "x")(3, 1), 7.0f) << length;
  }
  file.write(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 2), }", 12));
  t = frames::read_frames(file.path, {1, 3, 2}, "x");
  for (std::size_t i = 0; i < 12; ++i)
    EXPECT_EQ(t(i / 6, i / 2 % 3, i % 2), static_cast<float>(i / 6 + 2 * (i / 2 % 3) + 6 * (i % 2)));
}

// An input of integers takes files of its own type and of float32.
TEST(frames, of_integers) {
  using tensor::number;
  const scratch file;
  const frames::tensor some{{0, 1, 200}, {1, 0, 255}};
  for (const auto as : {number::uint8, number::int32, number::int64})
    for (const auto type : {as, number::float32}) {
      frames::write_npy(file.path, some, type);
      EXPECT_EQ(frames::read_frames(file.path, {1, 3}, "x", as), some);
      const frames::mapped_frames mapped(file.path, {1, 3}, "x", as);
      EXPECT_TRUE(std::ranges::equal(mapped.numbers(), some));
    }
  EXPECT_THROW(frames::read_frames(file.path + "none", {1, 3}, "x", number::uint8), files::error);
  frames::write_npy(file.path, some, number::uint8);
  EXPECT_THROW(frames::read_frames(file.path, {1, 3}, "x"), files::error) << "only for an input of integers";
  const auto error = [&](number as) {
    try {
      frames::read_frames(file.path, {1, 3}, "input 'x'", as);
    } catch (const files::error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_TRUE(error(number::int64)
                  .ends_with("holds uint8 (2, 3); input 'x' is int64 (N, 3): save the same numbers as int64 or float32 "
                             "(NumPy: x.astype(np.float32))"))
      << error(number::int64);
  // A bool is 0 or 1, whatever byte a program wrote.
  file.write(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1, 3), }", 0) + std::string("\0\1\2", 3));
  EXPECT_EQ(frames::read_frames(file.path, {1, 3}, "x", number::boolean), (frames::tensor{{0, 1, 1}}));
  const std::int64_t large[] = {1, (std::int64_t{1} << 24) + 1, 3};
  file.write(npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1, 3), }", 0) +
             std::string(reinterpret_cast<const char*>(large), 24));
  EXPECT_NE(error(number::int64).find("holds 16777217, which float32 does not hold, in which networks compute"),
            std::string::npos)
      << error(number::int64);
}

TEST(frames, types_have_numpys_names) {
  for (const auto& [code, name] : {std::pair{"<f4", "float32"},
                                   {"<f8", "float64"},
                                   {"<f2", "float16"},
                                   {"|u1", "uint8"},
                                   {"<i8", "int64"},
                                   {">f4", "big-endian float32"},
                                   {"|b1", "bool"},
                                   {"<c16", "complex128"},
                                   {"<U5", "'<U5'"},
                                   {"|O", "'|O'"},
                                   {"", "''"},
                                   {"<f", "'<f'"},
                                   {"<fx", "'<fx'"},
                                   {"<f4x", "'<f4x'"},
                                   {"<f999999999999", "'<f999999999999'"}})
    EXPECT_EQ(frames::detail::type_name(code), name);
}

TEST(frames, of_files_that_are_wrong) {
  const scratch file;
  const auto refused = [&](const std::string& bytes, const std::string& part, const tensor::shape& one = {1, 3}) {
    file.write(bytes);
    const auto text = error_of(file, one);
    EXPECT_NE(text.find(part), std::string::npos) << "'" << text << "' lacks " << part;
    EXPECT_NE(text.find(file.path), std::string::npos) << text;
  };
  const auto shaped = [](const std::string& shape) {
    return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
  };
  refused("", "not a .npy file");
  refused(std::string("\x93NUMPY\x01\0", 8), "not a .npy file");
  refused(npy(shaped("(2, 3)"), 6, 3), "version 3");
  refused(npy(shaped("(2, 3)"), 5), "cut short");
  refused(npy(shaped("(2, 3)"), 7), "damaged");
  refused(npy(shaped("(2, 4)"), 8), "(2, 4)");
  refused(npy(shaped("(6,)"), 6), "(N, 3)");
  refused(npy(shaped("(3, 3)"), 9, 1), "(N·2, 3)", {2, 3});
  refused(npy(shaped("(0, 3)"), 0), "no frame");
  refused(npy(shaped("(-1, 3)"), 3), "shape");
  refused(npy(shaped("(3000000000000000000, 3)"), 3), "damaged");
  refused(npy(shaped("(99999999999999999999999999, 3)"), 3), "shape");
  refused(npy(shaped("(1, 3"), 3), "shape");
  refused(npy("{}", 3), "records");
  refused(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 3), }", 6),
          "float64 (1, 3); input 'x' is float32 (N, 3): save it");
  refused(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1, 3), }", 3), "big-endian float32 (1, 3)");
  refused(
      npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 3), }", 1),
      "save it with .astype(np.float32) / 255 if the model takes pictures from 0 to 1, or normalised as the model expects");
  refused(npy("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", 3),
          "holds '|O' (2,); input 'x' is float32 (N, 3): its elements are Python objects, no numbers: join arrays of one "
          "shape, and save np.stack(list(A)).astype(np.float32)");
  refused(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }", 3), "records");
  refused(npy("{'descr': '<f4', 'shape': (1, 3), }", 3), "order");
  refused(npy("{'descr': '<f4', 'fortran_order': None, 'shape': (1, 3), }", 3), "order");
  auto cut = npy(shaped("(1, 3)"), 3);
  refused(cut.substr(0, 40), "cut short");
  cut[9] = '\xff';
  refused(cut, "cut short");
  ::unlink(file.path.c_str());
  EXPECT_NE(error_of(file, {1, 3}).find("No such file or directory (input 'x')"), std::string::npos)
      << error_of(file, {1, 3});
  ASSERT_EQ(::mkfifo(file.path.c_str(), 0600), 0);
  const int both_ends = ::open(file.path.c_str(), O_RDWR);
  EXPECT_NE(error_of(file, {1, 3}).find("a pipe"), std::string::npos) << error_of(file, {1, 3});
  ::close(both_ends);
}

TEST(results, that_are_expected_but_wrong) {
  const scratch file;
  const auto error = [&](const std::string& type, const std::string& shape) -> std::string {
    file.write(npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }", 6));
    try {
      frames::read_results(file.path, {1, 3}, "output 'y'");
      return {};
    } catch (const files::error& e) {
      return e.what();
    }
  };
  EXPECT_EQ(error("<f4", "(6,)"), "'" + file.path +
                                      "' holds float32 (6,); output 'y' is float32 (N, 3), N ≥ 1 frames: give the expected "
                                      "results as --output writes them");
  EXPECT_NE(error("|u1", "(2, 3)").find(": save it with .astype(np.float32)"), std::string::npos);
  EXPECT_EQ(error("|u1", "(2, 3)").find(" / 255"), std::string::npos);
  EXPECT_EQ(error("<f4", "(2, 3)"), "");
}

TEST(results, to_files) {
  const scratch file;
  frames::tensor_sink sink;
  sink.add(7, {1, 3}, 2);
  const float first[] = {1, 2, 3}, second[] = {4, 5, 6};
  const auto take = [&](int layer, std::int64_t frame, const float* from) {
    sink.take(layer, frame, reinterpret_cast<const std::byte*>(from), {1, 3});
  };
  take(7, 1, second);
  take(7, 0, first);
  take(8, 0, first);  // not wanted
  frames::write_npy(file.path, sink.result(7));
  const auto back = frames::read_frames(file.path, {1, 3}, "x");
  for (int i = 0; i < 6; ++i) EXPECT_EQ(back.data()[i], static_cast<float>(i + 1));
  EXPECT_THROW(frames::write_npy("/nowhere/at/all.npy", back), files::error);
  EXPECT_THROW(frames::write_npy("/dev/full", back), files::error);
  EXPECT_THROW(files::write_text("/dev/full", "x"), files::error);
  EXPECT_THROW(files::require_writable("/nowhere/at/all.npy"), files::error);
  EXPECT_THROW(files::require_writable("/tmp"), files::error);
  EXPECT_NO_THROW(files::require_writable(file.path));
  EXPECT_NO_THROW(files::require_writable("in_this_folder.npy"));
  EXPECT_NO_THROW(files::require_writable("/dev/full"));
}

TEST(results, of_other_types) {
  using dice::tensor::number;
  EXPECT_EQ(frames::as_number<std::int64_t>(-2.75f), -2);
  EXPECT_EQ(frames::as_number<std::int64_t>(1e30f), INT64_MAX);
  EXPECT_EQ(frames::as_number<std::int32_t>(-1e30f), INT32_MIN);
  EXPECT_EQ(frames::as_number<std::int32_t>(2147483520.0f), 2147483520);
  EXPECT_EQ(frames::as_number<std::uint8_t>(-1), 0);
  EXPECT_EQ(frames::as_number<std::uint8_t>(255.5f), 255);
  EXPECT_EQ(frames::as_number<std::int64_t>(std::numeric_limits<float>::quiet_NaN()), 0);
  EXPECT_TRUE(frames::as_number<bool>(-0.5f));
  EXPECT_FALSE(frames::as_number<bool>(std::numeric_limits<float>::quiet_NaN()));

  const scratch file;
  frames::tensor all = xt::arange<float>(2 * 5000).reshape({2, 5000});  // more than are converted at a time
  all(1, 4999) = 16777216;
  for (const auto& [type, code, bytes] : {std::tuple{number::int64, "'<i8'", 8}, {number::int32, "'<i4'", 4}}) {
    frames::write_npy(file.path, all, type);
    EXPECT_NE(file.read().find(code), std::string::npos);
    EXPECT_EQ(file.read().size(), 128u + 10000u * static_cast<unsigned>(bytes));
    EXPECT_EQ(frames::read_results(file.path, {1, 5000}, "y", type), all);
    EXPECT_THROW(frames::read_results(file.path, {1, 5000}, "y"), files::error);
  }
  const frames::tensor few{{0, 1, 200}, {1, 0, 255}};
  frames::write_npy(file.path, few, number::uint8);
  EXPECT_EQ(frames::read_results(file.path, {1, 3}, "y", number::uint8), few);
  frames::write_npy(file.path, few, number::boolean);
  const frames::tensor flags{{0, 1, 1}, {1, 0, 1}};
  EXPECT_EQ(frames::read_results(file.path, {1, 3}, "y", number::boolean), flags);

  {
    frames::npy_stream out(file.path + ".s", {1, 3}, number::int64);
    out.add(few.data());
    out.add(few.data() + 3);
    out.finish();
  }
  EXPECT_EQ(frames::read_results(file.path + ".s", {1, 3}, "y", number::int64), few);
  ::unlink((file.path + ".s").c_str());

  const auto numbers = [](std::int64_t n) { return std::string(reinterpret_cast<const char*>(&n), 8); };
  for (const auto& [n, error] :
       {std::pair((std::int64_t{1} << 24) + 1, "holds 16777217, which no result can be"), {std::int64_t{3}, ""}}) {
    file.write(npy("{'descr': '<i8', 'fortran_order': True, 'shape': (2,), }", 0) + numbers(3) + numbers(n));
    try {
      frames::read_results(file.path, {1}, "y", number::int64);
      EXPECT_STREQ(error, "");
    } catch (const files::error& e) {
      EXPECT_TRUE(*error && std::string(e.what()).find(error) != std::string::npos) << e.what();
    }
  }
}

// The disk is full from the start, in the header, or before the last byte.
TEST(results, that_do_not_fit_leave_no_file) {
  const scratch file;
  frames::tensor_sink sink;
  sink.add(7, {1, 300}, 5);
  frames::write_npy(file.path, sink.result(7));
  struct stat whole {
  }, s{};
  ASSERT_EQ(::stat(file.path.c_str(), &whole), 0);
  ::unlink(file.path.c_str());
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  for (const auto room : {whole.st_size - 1, whole.st_size - 50, off_t{200}, off_t{100}, off_t{5}}) {
    const rlimit less{static_cast<rlim_t>(room), limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &less), 0);
    std::string text;
    try {
      frames::write_npy(file.path, sink.result(7));
    } catch (const files::error& e) {
      text = e.what();
    }
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_NE(text.find("'" + file.path + "' cannot be written: File too large"), std::string::npos) << room << ": " << text;
    EXPECT_NE(::stat(file.path.c_str(), &s), 0) << room;
  }
  ::signal(SIGXFSZ, before);
}

// The disk fills up in the second frame of a stream: the file keeps the first.
TEST(results, of_a_stream_are_kept_up_to_the_frame_that_does_not_fit) {
  using dice::tensor::number;
  const scratch file;
  auto all = frames::tensor::from_shape({2, 5000});
  for (std::size_t i = 0; i < all.size(); ++i) all.data()[i] = static_cast<float>(i % 2);
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  for (const auto& [type, bytes] : {std::pair{number::float32, 4}, {number::int64, 8}, {number::uint8, 1}}) {
    const auto one = 5000 * bytes;
    std::string kept;
    {
      frames::npy_stream out(file.path, {1, 5000}, type);
      kept = out.temporary();
      out.add(all.data());
      const rlimit less{static_cast<rlim_t>(128 + one + one / 2), limit.rlim_max};
      ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &less), 0);
      EXPECT_THROW(out.add(all.data() + 5000), files::error);
      ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
      EXPECT_EQ(out.frames(), 1);
    }
    EXPECT_EQ(std::filesystem::file_size(kept), static_cast<std::size_t>(128 + one));
    const auto first = frames::read_results(kept, {1, 5000}, "y", type);
    EXPECT_EQ(first.shape()[0], 1u);
    EXPECT_TRUE(std::equal(first.begin(), first.end(), all.begin()));
    ::unlink(kept.c_str());
  }
  ::signal(SIGXFSZ, before);
}

TEST(frames, random_ones_are_standard_normal_and_of_the_seed) {
  std::vector<float> x(200'000), y(x.size());
  frames::random_frame(5, 0, 3, x.data(), static_cast<std::int64_t>(x.size()));
  double sum = 0, squares = 0, fourth = 0;
  for (double v : x) {
    sum += v;
    squares += v * v;
    fourth += v * v * v * v;
  }
  const auto n = static_cast<double>(x.size());
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.01);
  EXPECT_NEAR(fourth / n, 2.85, 0.05);  // 3 - 6 / (5 · 8) of a sum of eight
  frames::random_frame(5, 0, 3, y.data(), static_cast<std::int64_t>(y.size()));
  EXPECT_EQ(x, y);
  for (const auto& [seed, input, frame] : {std::tuple{6, 0, 3}, {5, 1, 3}, {5, 0, 4}}) {
    frames::random_frame(static_cast<std::uint64_t>(seed), input, frame, y.data(), static_cast<std::int64_t>(y.size()));
    double together = 0;
    for (std::size_t i = 0; i < x.size(); ++i) together += static_cast<double>(x[i]) * static_cast<double>(y[i]);
    EXPECT_NEAR(together / n, 0, 0.01);
  }
  frames::tensor_source ahead, late;
  ahead.add_random(0, {1, 8}, 0, 5, 10);
  late.add_random(0, {1, 8}, 0, 5, 1);
  for (std::int64_t f : {0, 1, 9, 12}) {
    float a[8], b[8];
    ahead.fill(0, f, reinterpret_cast<std::byte*>(a), {1, 8});
    late.fill(0, f, reinterpret_cast<std::byte*>(b), {1, 8});
    EXPECT_TRUE(std::equal(a, a + 8, b)) << f;
  }
}

TEST(frames, given_ones_come_in_turn) {
  frames::tensor_source source;
  source.add(3, 3, [](std::int64_t frame, float* to) { to[0] = static_cast<float>(2 * frame); });
  for (std::int64_t f = 0; f < 8; ++f) {
    float x[2];
    source.fill(3, f, reinterpret_cast<std::byte*>(x), {2});
    EXPECT_EQ(x[0], static_cast<float>(2 * (f % 3)));
  }
}

TEST(npy, remedies_for_other_shapes) {
  const tensor::shape picture{1, 3, 8, 10};
  const auto remedy = [&](const std::vector<std::int64_t>& found) { return frames::shape_remedy(found, picture); };
  EXPECT_EQ(remedy({5, 8, 10, 3}), "its axes have another order: save it with .transpose(0, 3, 1, 2)");
  EXPECT_EQ(frames::shape_remedy({5, 3, 8, 10}, {1, 8, 10, 3}),
            "its axes have another order: save it with .transpose(0, 2, 3, 1)");
  EXPECT_EQ(remedy({8, 10, 3}), "its axes have another order: save it with .transpose(2, 0, 1)[np.newaxis]");
  EXPECT_EQ(frames::shape_remedy({3, 8, 10}, {1, 8, 10, 3}),
            "its axes have another order: save it with .transpose(1, 2, 0)[np.newaxis]");
  const std::string reshape = "save it with .reshape(-1, 3, 8, 10) if only the axes differ";
  for (const auto& found :
       {std::vector<std::int64_t>{3, 8, 10}, {240}, {5, 240}, {5, 24, 10}, {2, 5, 3, 8, 10}, {3, 8, 10, 1}})
    EXPECT_EQ(remedy(found), reshape);
  const std::string general = "make frames of the network's shape, or convert the model for these (onnx2hpp -i)";
  // Where a frame has another number of elements, reshaping would mix frames; where its axes are others, pixels.
  for (const auto& found : {std::vector<std::int64_t>{5, 3, 8, 9},
                            {},
                            {7},
                            {0, 8, 10, 3},
                            {INT64_MAX, INT64_MAX, 4},
                            {480},
                            {24, 3, 4, 10},
                            {4, 3, 4, 5},
                            {5, 8, 3, 10},
                            {10, 8, 3},
                            {5, 0, 240}})
    EXPECT_EQ(remedy(found), general);
  EXPECT_EQ(frames::shape_remedy({8, 8, 8}, {1, 8, 8, 8}), "save it with .reshape(-1, 8, 8, 8) if only the axes differ");
  EXPECT_EQ(frames::shape_remedy({4, 240}, {2, 3, 8, 10}), reshape);
  for (const auto& found : {std::vector<std::int64_t>{5, 240}, {3, 8, 10}, {8, 10, 3}})
    EXPECT_EQ(frames::shape_remedy(found, {2, 3, 8, 10}), general) << "half a frame";
}
