#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "events/decision_fields.hpp"
#include "projections/record_filter.hpp"
#include "projections/text_tree.hpp"
#include "replay/scan.hpp"
#include "replay/snapshots.hpp"
#include "vocabulary/bytes.hpp"

namespace hindsight::cli {
namespace {

struct StatsOptions {
  PastOptions past;
  std::string format;
};

struct Count {
  std::uint64_t records = 0, bytes = 0;
};

struct Epoch {
  std::string domain, writer, release;
  std::uint32_t rules = 0;
  std::uint64_t epoch = 0;
  events::Position offset = 0;
  Time time;
};

/// What one walk over the log counts.
struct Statistics {
  std::map<std::string, Count, std::less<>> kinds;
  std::map<std::string, std::uint64_t, std::less<>> decided;
  std::vector<Epoch> epochs;
  Count all;
  Time first, last;

  void see(const events::StoredRecord& stored, const RecordView& record) {
    all.records += 1;
    all.bytes += stored.bytes.size();
    Count& count = kinds[std::string(projections::kind_of(record))];
    count.records += 1;
    count.bytes += stored.bytes.size();
    if (!first.is_set() || stored.time < first) first = stored.time;
    if (stored.time > last) last = stored.time;
    if (const auto* started = std::get_if<EpochStarted>(&record.body)) {
      epochs.push_back({std::string(stored.domain), std::string(started->writer), std::string(started->release), started->rules,
                        stored.epoch, stored.offset, stored.time});
    }
    const auto* d = std::get_if<Decisions>(&record.body);
    if (d == nullptr) return;
    for (const Event& e : d->events) std::visit([&]<class T>(const T&) { ++decided[std::string(events::Fields<T>::table)]; }, e);
  }
};

Json document(const events::Log& log, const Statistics& s, const std::vector<events::DomainTail>& domains,
              const std::vector<events::SnapshotMeta>& snapshots, bool text) {
  const auto bytes = [&](std::uint64_t n) { return text ? Json(human_bytes(n)) : Json(n); };
  Json out{{"log", log.name()}, {"records", s.all.records}, {"bytes", bytes(s.all.bytes)}};
  if (s.first.is_set()) {
    out["firstTime"] = format_rfc3339_micro(s.first);
    out["lastTime"] = format_rfc3339_micro(s.last);
  }
  out["domains"] = Json::array();
  for (const auto& d : domains)
    out["domains"].push_back({{"domain", d.domain}, {"sequence", d.sequence}, {"epoch", d.epoch}, {"offset", d.offset}});
  out["kinds"] = Json::array();
  for (const auto& [kind, count] : s.kinds)
    out["kinds"].push_back({{"kind", kind}, {"records", count.records}, {"bytes", bytes(count.bytes)}});
  out["decided"] = Json::array();
  for (const auto& [event, n] : s.decided) out["decided"].push_back({{"event", event}, {"count", n}});
  out["epochs"] = Json::array();
  for (const auto& e : s.epochs) {
    out["epochs"].push_back({{"domain", e.domain},
                             {"epoch", e.epoch},
                             {"offset", e.offset},
                             {"time", format_rfc3339_micro(e.time)},
                             {"writer", e.writer},
                             {"release", e.release},
                             {"rules", e.rules}});
  }
  out["snapshots"] = Json::array();
  for (const auto& m : snapshots) {
    out["snapshots"].push_back({{"position", m.position},
                                {"domain", m.domain},
                                {"time", format_rfc3339_micro(m.time)},
                                {"epoch", m.epoch},
                                {"hash", hex(m.state_hash)},
                                {"release", m.release}});
  }
  return out;
}

Result<int> stats(const Session& session, const StatsOptions& o) {
  const auto log = open_for_reading(o.past);
  if (!log) return tl::unexpected(log.error());
  const auto last = (*log)->last();
  if (!last) return tl::unexpected(last.error());
  auto domains = (*log)->domains();
  if (!domains) return tl::unexpected(domains.error());
  if (!o.past.domain.empty()) {
    if (auto known = replay::choose_domain(**log, o.past.domain); !known) return tl::unexpected(known.error());
    std::erase_if(*domains, [&](const events::DomainTail& d) { return d.domain != o.past.domain; });
  }
  const auto snapshots = o.past.domain.empty() ? (*log)->snapshots() : replay::snapshots_of(**log, o.past.domain);
  if (!snapshots) return tl::unexpected(snapshots.error());
  Statistics statistics;
  ProgressBar bar(session, "counting");
  const auto see = [&](const events::StoredRecord& stored, const RecordView& record) {
    statistics.see(stored, record);
    return true;
  };
  const auto first = (*log)->first();
  if (!first) return tl::unexpected(first.error());
  const auto ok = replay::scan(**log, o.past.domain, *first, *last, see, bar.callback());
  bar.clear();
  const Json out = document(**log, statistics, *domains, *snapshots, o.format == "text");
  if (o.format == "text") {
    session.out << projections::render_tree(out);
  } else {
    print_document(session, out, o.format);
  }
  if (!ok) return tl::unexpected(ok.error());  // what is before the damage has been counted
  return exit_ok;
}

}  // namespace

void add_log_stats(CLI::App& log, Session& session) {
  const auto o = std::make_shared<StatsOptions>();
  auto* c = add_command(log, session, "stats", "Count records by kind, bytes, time span, epochs, domains, snapshots",
                        "  hindsight log stats --log hindsight.db\n"
                        "  hindsight log stats -o json --log hindsight.db",
                        [o, &session] { return stats(session, *o); });
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_past_options(*c, o->past, false);
}

}  // namespace hindsight::cli
