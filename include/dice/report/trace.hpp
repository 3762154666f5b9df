// --trace: what the ranks did when, for chrome://tracing and Perfetto ("Trace Event Format").
#pragma once

#include "dice/job/clock_shift.hpp"
#include "dice/report/names.hpp"
#include "dice/runtime/recorder.hpp"
#include "dice/text/json.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace dice::report {

/// One rank's events, for trace_text, in the time of rank 0's clock. The rank is a process of the trace with a row for each
/// thread of its team, of which the first also sends and waits, and a row for arriving messages. An arrow leads from each
/// message's sending to its arrival.
[[gnu::cold]] inline std::string trace_part(const runtime::program& p, int rank, const std::string& host,
                                            const runtime::recorder& r, const job::clock_shift& clock) {
  using kind = runtime::recorder::kind;
  const auto of_rank = ",\"pid\":" + std::to_string(rank);
  std::string out;
  const auto meta = [&](const char* what, int row, const std::string& name) {
    out += std::string("{\"ph\":\"M\",\"name\":\"") + what + "\"" + of_rank + ",\"tid\":" + std::to_string(row) +
           ",\"args\":{\"name\":" + text::json_string(name) + "}},\n";
  };
  meta("process_name", 0, "rank " + std::to_string(rank) + " (" + host + ", " + unit_text(p, rank) + ")");
  const int arrivals = std::max(1, static_cast<int>(r.team().size()));  // the row after those of the threads
  for (int t = 0; t < arrivals; ++t) meta("thread_name", t, "thread " + std::to_string(t));
  meta("thread_name", arrivals, "messages arrive");
  const auto layer = [&](int l) { return layer_name(p, l); };
  for (const auto& e : r.events()) {
    if (e.is == kind::post) continue;
    std::string name, more;
    int row = e.thread;
    switch (e.is) {
      case kind::compute:
        name = group_text(p, e.what);
        break;
      case kind::job:
        name = "segment " + std::to_string(e.what);
        break;
      case kind::enter:
        name = "enter " + layer(e.what);
        break;
      case kind::leave:
        name = "leave " + layer(e.what);
        break;
      case kind::wait:
        name = "wait";
        break;
      case kind::post:
        break;
      case kind::send:
      case kind::receive: {
        const auto& m = p.plan.messages[e.what];
        const bool sends = e.is == kind::send;
        name = (sends ? "send " : "") + layer(m.layer) +
               (sends ? " to rank " + std::to_string(m.to) : " from rank " + std::to_string(m.from));
        more = ",\"bytes\":" + std::to_string(m.bytes) + ",\"tag\":" + std::to_string(m.tag);
        row = sends ? 0 : arrivals;
      }
    }
    const double begin = static_cast<double>(clock(e.begin)) * 1e-3;
    char times[96];
    std::snprintf(times, sizeof times, ",\"ts\":%.3f,\"dur\":%.3f", begin,
                  static_cast<double>(std::max<std::int64_t>(e.end - e.begin, 1000)) * 1e-3);
    const auto where = of_rank + ",\"tid\":" + std::to_string(row);
    out += "{\"ph\":\"X\",\"name\":" + text::json_string(name) + where + times;
    if (e.frame >= 0) out += ",\"args\":{\"frame\":" + std::to_string(e.frame) + more + "}";
    out += "},\n";
    if (e.is != kind::send && e.is != kind::receive) continue;
    const auto id = e.frame * static_cast<std::int64_t>(p.plan.messages.size()) + e.what;
    std::snprintf(times, sizeof times, ",\"ts\":%.3f", begin);
    out += std::string("{\"ph\":\"") + (e.is == kind::send ? "s" : "f\",\"bp\":\"e") +
           "\",\"cat\":\"message\",\"name\":\"message\",\"id\":" + std::to_string(id) + where + times + "},\n";
  }
  return out;
}

/// The content of --trace from all ranks' parts.
inline std::string trace_text(const std::vector<std::string>& parts) {
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (const auto& part : parts) out += part;
  out.resize(out.size() - 2);  // the last comma
  return out + "\n]}\n";
}

}  // namespace dice::report
