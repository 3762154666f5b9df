// What a program knows of the cluster that it was built for.
#pragma once

#include "dice/library.hpp"
#include "dice/partition/setting.hpp"
#include "dice/runtime/program.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dice::app {

struct seen_run;

/// What is predicted of a program's plan.
struct foresight {
  std::vector<double> group_seconds;    ///< by fusion group
  std::vector<platform::link> links;    ///< rank a to rank b at a · ranks + b
  std::vector<double> message_seconds;  ///< by rank: of its time, that messages take
  partition::prediction expected{};
};

/// What is to be told of a run that was seen, beside itself.
struct outlook {
  foresight expected;
  std::string advice, advice_json;  ///< what would be faster: as text, and as a member of a JSON object
};

/// The third argument of dice::main as values. Functions are pointers, so that programs without a cluster contain none of
/// what they do.
struct forecast {
  partition::setting setting;
  std::span<const partition::placed_rank> ranks;  ///< of the program's mapping
  /// What is predicted of the program's mapping, as text or as a member of a JSON object.
  std::string (*plan)(const forecast&, const runtime::program&, bool json) = nullptr;
  outlook (*advise)(const forecast&, const runtime::program&, const seen_run&) = nullptr;
  /// The best mapping for a wish, as the command line has it. Throws usage_error.
  std::string (*search)(const forecast&, const runtime::program&, std::string_view wish) = nullptr;
};

/// What forecasts refer to.
DICE_API std::string predicted_text(const forecast& f, const runtime::program& p, bool json);
DICE_API outlook advised(const forecast& f, const runtime::program& p, const seen_run& run);
DICE_API std::string searched_text(const forecast& f, const runtime::program& p, std::string_view wish);

}  // namespace dice::app

#ifdef DICE_HEADER_ONLY
#include "dice/app/forecast.ipp"
#endif
