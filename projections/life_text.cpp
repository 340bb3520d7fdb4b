// An account of a Workload's time, for people and for programs.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "projections/format.hpp"
#include "projections/life.hpp"

namespace hindsight::projections {
namespace {

constexpr std::size_t life_waits_max = 6, life_losses_max = 5, life_names_shown = 3;

template <class Wanted>
Duration spent(const Life& life, Wanted wanted) {
  Duration out;
  for (const auto& span : life.spans)
    if (wanted(span)) out.micros += (span.to - span.from).micros;
  return out;
}

Duration spent_as(const Life& life, LifeSpan::Kind kind) {
  return spent(life, [kind](const LifeSpan& span) { return span.kind == kind; });
}

/// All waits that were for the same, however often.
struct WaitSum {
  const LifeSpan* first = nullptr;
  Duration time;
  std::uint64_t others = 0;
  std::vector<std::string> names;
};

/// Longest first.
std::vector<WaitSum> waits_of(const Life& life) {
  std::vector<WaitSum> out;
  for (const auto& span : life.spans) {
    if (!span.is_wait() || span.from == span.to) continue;
    auto sum =
        std::find_if(out.begin(), out.end(), [&](const WaitSum& s) { return s.first->kind == span.kind && s.first->words == span.words; });
    if (sum == out.end()) sum = out.insert(out.end(), WaitSum{&span, {}, 0, {}});
    sum->time.micros += (span.to - span.from).micros;
    sum->others += span.others;
    for (const auto& name : span.names)
      if (std::find(sum->names.begin(), sum->names.end(), name) == sum->names.end()) sum->names.push_back(name);
  }
  std::stable_sort(out.begin(), out.end(), [](const WaitSum& a, const WaitSum& b) { return a.time > b.time; });
  return out;
}

/// Who had to do with it.
std::string others_words(const WaitSum& sum) {
  if (sum.others == 0) return {};
  const bool all = sum.others == sum.names.size() && sum.names.size() <= life_names_shown;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(sum.names.size(), life_names_shown));
  const std::string names = joined(std::vector<std::string>(sum.names.begin(), sum.names.begin() + shown));
  if (sum.first->kind == LifeSpan::Kind::victims)
    return ": " + names + (all ? std::string() : " and others, " + std::to_string(sum.others) + " in all");
  if (all) return "; meanwhile quota was given to " + names + " in its ClusterQueue";
  return "; meanwhile quota was given " + std::to_string(sum.others) + " times in its ClusterQueue, first to " + names;
}

void write_waits(const Life& life, std::vector<std::string>& out) {
  const auto waits = waits_of(life);
  if (waits.empty()) return;
  out.push_back("  waited " + exact_duration(life.waited()) + ":");
  Duration rest;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    if (i < life_waits_max)
      out.push_back("    " + exact_duration(waits[i].time) + " " + waits[i].first->words + others_words(waits[i]));
    else
      rest.micros += waits[i].time.micros;
  }
  if (waits.size() > life_waits_max)
    out.push_back("    " + exact_duration(rest) + " for other reasons, " + std::to_string(waits.size() - life_waits_max) + " of them");
}

std::string loss_words(const LifeLoss& loss) {
  const std::string at = " at " + std::to_string(loss.offset);
  if (!loss.by.empty())
    return "to preemption by " + loss.by + " of ClusterQueue " + loss.by_queue +
           (loss.reason.empty() ? std::string() : " (" + loss.reason + ")") + at;
  return (loss.reason.empty() ? std::string("because its admission was cleared") : "to eviction: " + loss.reason) + at;
}

void write_runs(const Life& life, std::vector<std::string>& out) {
  if (!life.was_admitted()) return;
  const Duration ran = life.ran(), lost = life.lost();
  std::string head = "  ran " + exact_duration(ran);
  if (life.runs() > 1) head += " in " + counted(life.runs(), "run");
  if (lost.micros > 0) head += lost == ran ? ", all of it lost" : ", " + exact_duration(lost) + " of it lost";
  out.push_back(head + (life.losses.empty() ? "" : ":"));
  Duration rest;
  for (std::size_t i = 0; i < life.losses.size(); ++i) {
    if (i < life_losses_max)
      out.push_back("    " + exact_duration(life.losses[i].lost) + " " + loss_words(life.losses[i]));
    else
      rest.micros += life.losses[i].lost.micros;
  }
  if (life.losses.size() > life_losses_max)
    out.push_back("    " + exact_duration(rest) + " by " + std::to_string(life.losses.size() - life_losses_max) + " more");
}

Json span_in_json(const LifeSpan& span) {
  Json out{{"kind", name_of(span.kind)},
           {"from", format_rfc3339_micro(span.from)},
           {"to", format_rfc3339_micro(span.to)},
           {"micros", (span.to - span.from).micros}};
  if (span.offset != 0) out["offset"] = span.offset;
  if (!span.reason.empty()) out["reason"] = span.reason;
  if (!span.words.empty()) out["text"] = span.words;
  for (const auto& [flavor, resource] : span.lacks) out["lacks"].push_back({{"flavor", flavor}, {"resource", resource}});
  if (!span.checks.empty()) out["checks"] = span.checks;
  if (span.others == 0) return out;
  const bool victims = span.kind == LifeSpan::Kind::victims;
  out[victims ? "preempted" : "othersGivenQuota"] = {{"times", span.others}, {"first", span.names}};
  return out;
}

}  // namespace

std::string_view name_of(LifeSpan::Kind kind) {
  switch (kind) {
    case LifeSpan::Kind::unknown:
      return "unknown";
    case LifeSpan::Kind::turn:
      return "turn";
    case LifeSpan::Kind::quota:
      return "quota";
    case LifeSpan::Kind::victims:
      return "victims";
    case LifeSpan::Kind::others_ready:
      return "othersReady";
    case LifeSpan::Kind::held:
      return "held";
    case LifeSpan::Kind::back_off:
      return "backOff";
    case LifeSpan::Kind::inactive:
      return "inactive";
    case LifeSpan::Kind::checks:
      return "checks";
    case LifeSpan::Kind::running:
      return "running";
    case LifeSpan::Kind::stopping:
      return "stopping";
  }
  return "";
}

std::string span_text(const LifeSpan& span) {
  switch (span.kind) {
    case LifeSpan::Kind::unknown:
      return "was out of sight of this log";
    case LifeSpan::Kind::running:
      return "ran";
    case LifeSpan::Kind::stopping:
      return "stopped after it was evicted";
    default:
      return "waited " + span.words;
  }
}

Duration Life::waited() const {
  return spent(*this, [](const LifeSpan& span) { return span.is_wait(); });
}
Duration Life::ran() const { return spent_as(*this, LifeSpan::Kind::running); }
Duration Life::stopped() const { return spent_as(*this, LifeSpan::Kind::stopping); }
Duration Life::unknown() const { return spent_as(*this, LifeSpan::Kind::unknown); }
Duration Life::lost() const {
  Duration out;
  for (const auto& loss : losses) out.micros += loss.lost.micros;
  return out;
}
std::size_t Life::runs() const {
  return static_cast<std::size_t>(
      std::count_if(spans.begin(), spans.end(), [](const LifeSpan& span) { return span.kind == LifeSpan::Kind::running; }));
}

std::string exact_duration(Duration d) {
  const std::int64_t micros = std::max<std::int64_t>(0, d.micros), seconds = micros / 1'000'000, minutes = seconds / 60;
  std::string out;
  if (minutes >= 60) out = std::to_string(minutes / 60) + "h";
  if (minutes > 0) out += std::to_string(minutes % 60) + "m";
  out += std::to_string(seconds % 60);
  if (micros % 1'000'000 != 0) {
    std::string fraction = std::to_string(1'000'000 + micros % 1'000'000);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    out += "." + fraction.substr(1);
  }
  return out + "s";
}

std::vector<std::string> life_lines(const Life& life) {
  const std::string created = format_rfc3339_micro(life.created);
  std::vector<std::string> out;
  out.push_back("Life: " + exact_duration(life.total()) +
                (life.end.empty() ? " so far, since " + created : ", from " + created + " to " + format_rfc3339_micro(life.until)));
  write_waits(life, out);
  write_runs(life, out);
  if (life.stopped().micros > 0) out.push_back("  took " + exact_duration(life.stopped()) + " to stop after it was evicted");
  if (life.unknown().micros > 0) out.push_back("  was out of sight of this log for " + exact_duration(life.unknown()));
  return out;
}

Json to_json(const Life& life) {
  Json out{{"created", format_rfc3339_micro(life.created)}, {"until", format_rfc3339_micro(life.until)}};
  if (!life.end.empty()) out["end"] = life.end;
  out["totalMicros"] = life.total().micros;
  out["waitedMicros"] = life.waited().micros;
  out["ranMicros"] = life.ran().micros;
  out["lostMicros"] = life.lost().micros;
  out["stoppedMicros"] = life.stopped().micros;
  out["unknownMicros"] = life.unknown().micros;
  out["spans"] = Json::array();
  for (const auto& span : life.spans) out["spans"].push_back(span_in_json(span));
  out["losses"] = Json::array();
  for (const auto& loss : life.losses) {
    Json one{{"offset", loss.offset}, {"time", format_rfc3339_micro(loss.time)}, {"lostMicros", loss.lost.micros}};
    if (!loss.reason.empty()) one["reason"] = loss.reason;
    if (!loss.by.empty()) one["by"] = {{"workload", loss.by}, {"clusterQueue", loss.by_queue}};
    out["losses"].push_back(std::move(one));
  }
  return out;
}

}  // namespace hindsight::projections
