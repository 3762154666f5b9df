// The layouts in which operators work: blocked where no block is cut.
#include <dice/algorithm/algorithm.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>

namespace {

using namespace dice;
using tensor::shape;

template <class Op> constexpr algorithm::form form(const Op& op, std::initializer_list<shape> in) {
  const graph::shapes all(in.begin(), in.size());
  return algorithm::choose_openmp(op, all, graph::infer(op, all)).works;
}
constexpr auto plain = algorithm::form::plain, blocked = algorithm::form::blocked, either = algorithm::form::either;
constexpr shape s{2, 24, 5, 7};
static_assert(form(ops::relu{}, {s}) == either && form(ops::batch_normalization{}, {s}) == either);
static_assert(form(ops::softmax{}, {s}) == plain && form(ops::lrn{}, {s}) == plain && form(ops::flatten{}, {s}) == plain);
static_assert(form(ops::max_pool{}, {s}) == blocked && form(ops::average_pool{}, {s}) == blocked);
static_assert(form(ops::add{}, {s, s}) == either && form(ops::add{}, {s, {1}}) == either);
static_assert(form(ops::mul{}, {s, {1, 24, 1, 1}}) == either && form(ops::mul{}, {{2, 24, 1, 1}, s}) == either);
static_assert(form(ops::sub{}, {s, {24, 1, 1}}) == plain && form(ops::sub{}, {s, {2, 1, 5, 7}}) == plain);
static_assert(form(ops::sub{}, {{1, 24, 5, 1}, s}) == plain && form(ops::sum{}, {s, s, {7}}) == plain);
constexpr auto fixed = [](const shape& f) { return ops::div{.which = ops::constant::second, .fixed = f}; };
static_assert(form(fixed({24, 1, 1}), {s}) == either && form(fixed({1, 24, 1, 1}), {s}) == either);
static_assert(form(fixed({}), {s}) == either && form(fixed({1, 1, 1}), {s}) == either);
static_assert(form(fixed({24, 5, 7}), {s}) == plain && form(fixed(s), {s}) == plain);
static_assert(form(ops::concat{.axis = 1}, {{2, 32, 5, 7}, s}) == either);
static_assert(form(ops::concat{.axis = 1}, {s, s}) == plain &&
              form(ops::concat{.axis = 1}, {{1, 8, 5}, {1, 16, 5}}) == plain);
static_assert(form(ops::concat{.axis = 0}, {s, s}) == either && form(ops::concat{.axis = 2}, {s, {2, 24, 1, 7}}) == either);
static_assert(form(ops::concat{.axis = 3}, {s, s}) == either &&
              form(ops::concat{.axis = 2}, {{1, 24, 5}, {1, 24, 3}}) == either);
using whole_numbers = std::array<std::int64_t, tensor::max_rank>;
constexpr auto cut = [](const whole_numbers& starts, const shape& extents, std::int64_t step = 1, std::int64_t over = 1) {
  return ops::slice{.starts = starts, .steps = {1, step, over, over, 1, 1, 1, 1}, .extents = extents};
};
constexpr shape wide{2, 56, 5, 7};
static_assert(form(cut({0, 0, 2, 1}, {2, 56, 2, 6}), {wide}) == either &&
              form(cut({0, 0, 4}, {2, 56, 1, 7}), {wide}) == either);
static_assert(form(cut({1, 16, 0, 0}, {1, 16, 5, 7}), {wide}) == either &&
              form(cut({0, 32}, {2, 24, 5, 7}), {wide}) == either);
static_assert(form(cut({0, 16}, {2, 20, 5, 7}), {wide}) == either &&
              form(cut({0, 16, 4, 6}, {2, 40, 3, 3}, 1, -2), {wide}) == either);
static_assert(form(cut({0, 8}, {2, 48, 5, 7}), {wide}) == plain && form(cut({0, 0}, {2, 28, 5, 7}, 2), {wide}) == plain);
static_assert(form(cut({0, 48}, {2, 4, 5, 7}, -1), {wide}) == plain &&
              form(cut({0, 48}, {2, 1, 5, 7}, -1), {wide}) == either);
static_assert(form(cut({0, 32, 1}, {1, 16, 5}), {{1, 56, 7}}) == either);
static_assert(form(ops::resize{.factors = {1, 1, 2, 2}}, {s}) == either &&
              form(ops::resize{.factors = {1, 2, 1, 1}}, {s}) == plain);
constexpr auto mean = [](bool channels, bool keep) {
  ops::reduce out;  // clang 14 evaluates no designated initialisers here
  out.over = {false, channels, true, true};
  out.keep = keep;
  return out;
};
static_assert(form(mean(false, true), {s}) == blocked && form(mean(false, false), {{2, 32, 5, 7}}) == blocked);
static_assert(form(mean(false, false), {s}) == plain && form(mean(true, true), {s}) == plain);
static_assert(form(ops::global_average_pool{}, {s}) == blocked);
static_assert(form(ops::global_average_pool{}, {{2, 24, 5, 7, 3}}) == plain);
// However many operands there are.
constexpr std::array<shape, 100> many{};
static_assert(algorithm::choose_openmp(ops::sum{}, many, {}).converts);

}  // namespace
