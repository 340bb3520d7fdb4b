#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/option_checks.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "events/json.hpp"
#include "projections/record_filter.hpp"
#include "replay/scan.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

struct CatOptions {
  PastOptions past;
  std::string from = "1", to = "latest", format;
  projections::RecordFilter filter;
  std::uint64_t limit = 0;
  bool follow = false;
};

Result<int> cat(const Session& session, const CatOptions& o) {
  const auto log = open_for_reading(o.past);
  if (!log) return tl::unexpected(log.error());
  const auto from = replay::first_record(**log, o.from);
  if (!from) return tl::unexpected(from.error());
  const auto to = o.follow ? (*log)->last() : replay::resolve(**log, o.to);
  if (!to) return tl::unexpected(to.error());
  if (*from > *to + 1)
    return fail(ErrorKind::invalid, "--from: found " + o.from + " (record " + std::to_string(*from) + "), which is behind --to " + o.to +
                                        " (record " + std::to_string(*to) + "); allowed: a moment before it");
  std::string domain = o.past.domain;
  if (!domain.empty()) {
    const auto known = replay::choose_domain(**log, domain);
    if (!known) return tl::unexpected(known.error());
  }
  const auto set_aside = (*log)->quarantined();
  if (!set_aside) return tl::unexpected(set_aside.error());
  std::uint64_t left = o.limit == 0 ? std::numeric_limits<std::uint64_t>::max() : o.limit;
  const auto see = [&](const events::StoredRecord& stored, const RecordView& record) {
    if (!o.filter.matches(record)) return true;
    const bool passed_over = replay::find_quarantined(*set_aside, stored) != nullptr;
    if (o.format == "json") {
      session.out << "{\"offset\":" << stored.offset << (passed_over ? ",\"setAside\":true," : ",")
                  << escaped_document(events::to_json(record).substr(1), false) << "\n";
    } else {
      session.out << stored.offset << "  " << printable(events::to_text(record)) << (passed_over ? "  (set aside)" : "") << "\n";
    }
    return --left > 0 && session.out.good();
  };
  const auto unreadable = [&](const events::StoredRecord& stored, const Error& why) {
    if (!o.filter.kinds.empty() || !o.filter.objects.empty()) return;
    if (o.format == "json") {
      const Json line{{"offset", stored.offset}, {"setAside", true}, {"domain", stored.domain}, {"unreadable", why.message}};
      session.out << escaped_document(line.dump(-1, ' ', false, Json::error_handler_t::replace), false) << "\n";
    } else {
      session.out << stored.offset << "  cannot be read (" << printable(why.message) << ")  (set aside)\n";
    }
  };
  events::Position at = *from;
  events::Position end = *to;
  for (;;) {
    if (auto ok = replay::scan(**log, domain, at, end, see, {}, unreadable); !ok) return tl::unexpected(ok.error());
    if (!o.follow || left == 0 || !session.out.good()) return exit_ok;
    at = std::max(at, end + 1);
    session.out.flush();
    const auto grown = (*log)->wait_beyond(end, Duration::seconds(1));
    if (!grown) return tl::unexpected(grown.error());
    end = *grown;
  }
}

}  // namespace

void add_log_cat(CLI::App& log, Session& session) {
  const auto o = std::make_shared<CatOptions>();
  auto* c = add_command(log, session, "cat", "Print records, one a line",
                        "  hindsight log cat --log hindsight.db\n"
                        "  hindsight log cat --from -5m --kind WorkloadPreempted --log hindsight.db\n"
                        "  hindsight log cat --object team-a/job-train-1f2e3 -o json --log hindsight.db\n"
                        "  hindsight log cat --from latest --follow --log hindsight.db",
                        [o, &session] { return cat(session, *o); });
  c->add_option("--from", o->from, "First record: a position, a time, or a duration back (-5m)")->check(is_moment())->default_str("1");
  auto* to = c->add_option("--to", o->to, "Last record")->check(is_moment())->default_str("latest");
  std::vector<std::string> kinds;
  for (const auto kind : projections::all_kinds()) kinds.emplace_back(kind);
  c->add_option("--kind", o->filter.kinds, "Only records of this kind, or decisions with an event of it; may be repeated")
      ->check(CLI::IsMember(kinds))
      ->type_name("KIND");
  c->add_option("--object", o->filter.objects, "Only records that name this object: NAME, NAMESPACE/NAME or uid; may be repeated")
      ->type_name("NAME");
  c->add_option("--limit", o->limit, "No more than so many; 0: all")->check(whole_number())->default_str("0");
  c->add_flag("-f,--follow", o->follow, "Go on with what a live writer adds, until Ctrl-C")->excludes(to);
  add_output(*c, o->format, {"text", "json"});
  add_past_options(*c, o->past, false);
  add_time_zone(*c);
}

}  // namespace hindsight::cli
