#include "doctor/checks/clocks.hpp"

#include <cstdio>
#include <string>
#include <utility>

namespace hindsight::doctor {
namespace {

/// A date of HTTP has whole seconds, and an answer takes its time.
constexpr std::int64_t tolerated_micros = 3'000'000;
constexpr std::int64_t wrong_micros = 30'000'000;
constexpr const char* set_clock = "timedatectl set-ntp true && timedatectl timesync-status";

std::string seconds_of(std::int64_t micros) {
  char text[48];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(micros) / 1e6);
  return text;
}

}  // namespace

Outcome judge_clocks(const ClocksFacts& facts) {
  if (!facts.sample) return blind("no answer of the API server had a date");
  Outcome out;
  const std::int64_t ahead = (facts.sample->ours - facts.sample->server).micros;
  const std::int64_t off = ahead < 0 ? -ahead : ahead;
  const std::string how = seconds_of(off) + (ahead < 0 ? " behind" : " ahead of");
  if (off > tolerated_micros)
    out.add({off > wrong_micros ? Severity::error : Severity::warning, "clock of this machine", how + " the API server's",
             "at most " + seconds_of(tolerated_micros) +
                 " apart: certificates and tokens are judged by clocks, and times in the log are told by them",
             "Have the clock of the machine that is wrong set from the network; where this is this one", set_clock});
  for (const auto& lease : facts.leases) {
    if (lease.holder.empty() || !lease.renewed.is_set()) continue;
    const std::int64_t future = (lease.renewed - facts.now).micros;
    if (future > tolerated_micros)
      out.add({future > wrong_micros ? Severity::error : Severity::warning, "clock of " + lease.holder,
               "it renewed Lease " + lease.namespace_ + "/" + lease.name + " " + seconds_of(future) + " in the future of the API server",
               "at most " + seconds_of(tolerated_micros), "On that machine, have the clock set from the network", set_clock});
  }
  out.summary = "this machine is " + (off <= tolerated_micros ? "as" : how) +
                std::string(off <= tolerated_micros ? " the API server is" : " the API server");
  return out;
}

Outcome examine_clocks(Context& context) {
  ClocksFacts facts;
  // An answer of just now.
  if (const auto version = context.cluster->get("/version"); !version) return blind(version.error().message);
  auto leases = read_leases(*context.cluster);
  if (leases) facts.leases = std::move(*leases);
  facts.sample = context.cluster->clock();
  facts.now = context.now();
  return judge_clocks(facts);
}

}  // namespace hindsight::doctor
