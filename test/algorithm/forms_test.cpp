// The layouts in which operators work: blocked where no block is cut.
#include <dice/algorithm/algorithm.hpp>

#include <array>
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
static_assert(form(ops::concat{.axis = 1}, {s, s}) == plain && form(ops::concat{.axis = 0}, {s, s}) == plain);
static_assert(form(ops::resize{.factors = {1, 1, 2, 2}}, {s}) == either &&
              form(ops::resize{.factors = {1, 2, 1, 1}}, {s}) == plain);
constexpr auto mean = [](bool channels, bool keep) {
  return ops::reduce_mean{.over = {false, channels, true, true}, .keep = keep};
};
static_assert(form(mean(false, true), {s}) == blocked && form(mean(false, false), {{2, 32, 5, 7}}) == blocked);
static_assert(form(mean(false, false), {s}) == plain && form(mean(true, true), {s}) == plain);
static_assert(form(ops::global_average_pool{}, {s}) == blocked);
static_assert(form(ops::global_average_pool{}, {{2, 24, 5, 7, 3}}) == plain);
// More operands than a kernel can convert.
constexpr std::array<shape, algorithm::max_converted + 1> many{};
static_assert(!algorithm::choose_openmp(ops::sum{}, many, {}).converts);
static_assert(algorithm::choose_openmp(ops::sum{}, many, {}).works == plain);

}  // namespace
