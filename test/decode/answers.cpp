// decode_answers FILE: decodes the cases of FILE, which compare.py has written, and prints what it finds.
//
// A case is a line "HEAD score overlap most across scores width height priors results", with a number of priors and of
// results; a line "0" (float32) or "1" (int64), rank and extents for each result; then all priors and results as float32.
#include "dice/decode/boxes.hpp"
#include "dice/decode/classes.hpp"
#include "dice/decode/mask.hpp"
#include "dice/meta/enum_name.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

using namespace dice;

namespace {

std::vector<float> read_numbers(std::istream& in, std::size_t n) {
  std::vector<float> out(n);
  in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(4 * n));
  return out;
}

double wide(float x) { return static_cast<double>(x); }

void print(const decode::found_boxes& picture) {
  std::printf("picture %lld\n", static_cast<long long>(picture.dropped));
  for (const auto& b : picture.boxes)
    std::printf("%d %.9g %.9g %.9g %.9g %.9g\n", b.class_index, wide(b.score), wide(b.x), wide(b.y), wide(b.width),
                wide(b.height));
}
void print(const decode::found_classes& picture) {
  std::printf("picture %lld\n", static_cast<long long>(picture.dropped));
  for (const auto& c : picture.classes) std::printf("%d %.9g\n", c.class_index, wide(c.score));
}
void print(const decode::mask& picture) {
  std::printf("picture %lld\n", static_cast<long long>(picture.dropped));
  for (const auto& r : decode::runs(picture)) std::printf("%d %lld\n", r.class_index, static_cast<long long>(r.pixels));
  for (std::size_t c = 0; c < picture.counts.size(); ++c)
    std::printf("%zu %lld\n", c, static_cast<long long>(picture.counts[c]));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream in(argv[1], std::ios::binary);
  for (std::string name; in >> name;) {
    float score = 0, overlap = 0;
    int most = 0, scores = 0, priors = 0, results = 0;
    decode::options o;
    in >> score >> overlap >> most >> o.across_classes >> scores >> o.width >> o.height >> priors >> results;
    o.score = score;
    o.overlap = overlap;
    o.most = most;
    o.scores = static_cast<decode::scale>(scores);
    std::vector<tensor::type> types;
    for (int r = 0; r < results; ++r) {
      int integers = 0, rank = 0;
      in >> integers >> rank;
      tensor::shape shape;
      for (int a = 0; a < rank; ++a) {
        std::int64_t extent = 0;
        in >> extent;
        shape.push_back(extent);
      }
      types.emplace_back(shape, integers ? tensor::number::int64 : tensor::number::float32);
    }
    in.get();
    o.priors = read_numbers(in, static_cast<std::size_t>(priors));
    std::vector<std::vector<float>> numbers;
    std::vector<decode::result> all;
    for (const auto& type : types) {
      numbers.push_back(read_numbers(in, static_cast<std::size_t>(type.elements())));
      all.push_back({numbers.back().data(), type});
    }
    if (!in) return 3;
    std::printf("case\n");
    const auto as = *meta::enum_value<decode::head>(name);
    if (as == decode::head::classes)
      for (const auto& picture : decode::classes(all[0], o)) print(picture);
    else if (as == decode::head::mask)
      for (const auto& picture : decode::masks(all[0], o)) print(picture);
    else
      for (const auto& picture : decode::boxes(as, all, o)) print(picture);
  }
}
