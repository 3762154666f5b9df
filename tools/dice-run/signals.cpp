#include "signals.hpp"

#include "diagnostics.hpp"

#include "dice/files/last_words.hpp"
#include "dice/files/unfinished.hpp"
#include "dice/text/foreign.hpp"

#include <atomic>
#include <list>

namespace dice_run {

namespace {

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP};
constexpr std::array stopping_signals{SIGINT, SIGTERM};

std::atomic<const std::string*> last_words = nullptr;

void end_by(int signal) {  // calls only async-signal-safe functions
  dice::files::remove_unfinished();
  dice::files::say_last(*last_words, 100);
  std::signal(signal, SIG_DFL);
  std::raise(signal);  // ends the program when the handler returns
}

volatile std::sig_atomic_t is_interrupted = 0;
bool is_awaited = false;

}  // namespace

void if_interrupted(const std::string& text) {
  if (listener) return;
  static std::list<std::string> all;  // a signal may come at any time, so none is ever changed
  last_words = &all.emplace_back("dice-run: error: interrupted; " + dice::text::shown(text) + "\n");
  if (all.size() > 1) return;
  for (const int signal : ending_signals)
    if (std::signal(signal, end_by) == SIG_IGN) std::signal(signal, SIG_IGN);
}

signals_with::signals_with(std::span<const int> signals, void (*handler)(int)) : signals_(signals) {
  for (std::size_t i = 0; i < signals.size(); ++i) before_[i] = std::signal(signals[i], handler);
}

signals_with::~signals_with() {
  for (std::size_t i = 0; i < signals_.size(); ++i) std::signal(signals_[i], before_[i]);
}

uninterrupted::uninterrupted() : ignored_(ending_signals, SIG_IGN) {}

interruption::interruption() : noted_(stopping_signals, [](int) { is_interrupted = 1; }) { is_awaited = true; }

interruption::~interruption() {
  is_interrupted = 0;
  is_awaited = false;
}

bool interruption::happened() { return is_interrupted != 0; }

bool interruption::awaited() { return is_awaited; }

}  // namespace dice_run
