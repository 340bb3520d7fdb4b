#include "page/branches/branch_play.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <variant>

#include "admission/domain/domain.hpp"
#include "events/record.hpp"
#include "operations/config_file.hpp"
#include "operations/feature_gates.hpp"
#include "page/branches/interruptible_log.hpp"
#include "projections/mentions.hpp"
#include "replay/past.hpp"
#include "replay/scan.hpp"
#include "vocabulary/printable.hpp"
#include "whatif/comparison.hpp"
#include "whatif/document.hpp"
#include "whatif/outcome.hpp"
#include "whatif/player.hpp"

namespace hindsight::page {
namespace {

using projections::Json;
using replay::Position;

constexpr std::size_t names_in_a_notice = 5, contested_max = 100;

std::string field_of_edit(std::size_t index, const char* field) { return "edits[" + std::to_string(index) + "]." + field; }

tl::unexpected<Error> in_edit(std::size_t index, const char* field, const Error& error) {
  return fail(error.kind, field_of_edit(index, field) + ": " + error.message);
}

std::vector<std::byte> configuration_record(const std::string& json) {
  RecordView record;
  record.envelope.domain = "what-if";
  record.envelope.sequence = 1;
  record.body = Observation{ConfigurationObserved{json}};
  return events::encode(record);
}

/// The configuration of the moment with other feature gates; all else stays. Where the log knows of no configuration it is the default one.
Result<std::string> with_gates(const std::string& present, const std::string& gates) {
  const auto alone = operations::default_configuration({.feature_gates = gates});  // judges them
  if (!alone) return tl::unexpected(alone.error());
  if (present.empty()) return alone->json;
  const auto values = operations::parse_feature_gates(gates);
  if (!values) return tl::unexpected(values.error());
  Json json = Json::parse(present, nullptr, false);
  if (!json.is_object()) return fail(ErrorKind::corrupt, "the configuration on record is no JSON object");
  Json& all = json["featureGates"];
  if (!all.is_object()) all = Json::object();
  for (const auto& [name, value] : *values) all[name] = value;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Turns edits into changes, step by step as the log is read.
class Edits {
 public:
  Edits(const BranchRequest& request, const BranchPlay& how) : request_(request), how_(how) {
    for (std::size_t i = 0; i < request.edits.size(); ++i)
      if (const auto* drop = std::get_if<DropCard>(&request.edits[i])) dropped_.emplace_back(i, projections::Mentions(drop->target));
  }

  /// All records of the domain, in order: whether those that are to be dropped are met.
  void see(const RecordView& record) {
    for (auto& [index, mentions] : dropped_) (void)mentions.concerns(record);
  }
  [[nodiscard]] Result<void> check_dropped(const events::Log& log) const {
    for (const auto& [index, mentions] : dropped_) {
      if (mentions.met()) continue;
      const auto& drop = std::get<DropCard>(request_.edits[index]);
      return fail(ErrorKind::not_found, field_of_edit(index, "object") + ": found " + drop.kind + " " + drop.target.namespace_ + "/" +
                                            drop.target.name + "; log " + std::string(log.name()) + " has none of this name");
    }
    return {};
  }

  /// `state`: as it is at the moment from which on things are otherwise.
  [[nodiscard]] Result<whatif::Changes> changes(const admission::StateView& state, whatif::Responses& responses) {
    configuration_ = state.domain().catalog()->settings_json;
    for (std::size_t i = 0; i < request_.edits.size(); ++i)
      if (auto ok = std::visit([&](const auto& card) { return add(i, card, state, responses); }, request_.edits[i]); !ok)
        return tl::unexpected(ok.error());
    if (configuration_changed_) changes_.observations.insert(changes_.observations.begin(), configuration_record(configuration_));
    // Nodes may be like some that another edit brings.
    for (std::size_t i = 0; i < request_.edits.size(); ++i)
      if (const auto* nodes = std::get_if<NodesCard>(&request_.edits[i]))
        if (auto ok = whatif::check({nodes->change}, changes_.observations, state); !ok) return in_edit(i, "like", ok.error());
    if (auto ok = whatif::check(changes_.nodes, changes_.observations, state); !ok)
      return fail(ok.error().kind, "edits: " + ok.error().message);
    return std::move(changes_);
  }

 private:
  Result<void> add(std::size_t index, const QuotaCard& card, const admission::StateView& state, whatif::Responses& /*responses*/) {
    if (auto ok = whatif::check(card.change, state); !ok) return in_edit(index, "clusterQueue", ok.error());
    changes_.quotas.push_back(card.change);
    return {};
  }
  Result<void> add(std::size_t index, const ManifestCard& card, const admission::StateView& state, whatif::Responses& responses) {
    if (!how_.read_manifests) return fail(ErrorKind::unsupported, field_of_edit(index, "yaml") + ": manifests are not read here");
    auto objects = how_.read_manifests(card.yaml, state.domain().now(), responses);
    if (!objects) return in_edit(index, "yaml", objects.error());
    std::move(objects->begin(), objects->end(), std::back_inserter(changes_.observations));
    return {};
  }
  Result<void> add(std::size_t /*index*/, const DropCard& card, const admission::StateView& /*state*/, whatif::Responses& /*responses*/) {
    changes_.dropped.push_back((card.target.is_workload() ? "workload" : card.target.kind) + "/" + card.target.namespace_ + "/" +
                               card.target.name);
    return {};
  }
  Result<void> add(std::size_t /*index*/, const NodesCard& card, const admission::StateView& /*state*/, whatif::Responses& /*responses*/) {
    changes_.nodes.push_back(card.change);
    return {};
  }
  Result<void> add(std::size_t index, const FeatureGatesCard& card, const admission::StateView& /*state*/,
                   whatif::Responses& /*responses*/) {
    auto json = with_gates(configuration_, card.text);
    if (!json) return in_edit(index, "text", json.error());
    configuration_ = std::move(*json);
    configuration_changed_ = true;
    return {};
  }

  const BranchRequest& request_;
  const BranchPlay& how_;
  std::vector<std::pair<std::size_t, projections::Mentions>> dropped_;
  whatif::Changes changes_;
  std::string configuration_;
  bool configuration_changed_ = false;
};

void note(std::vector<std::string>& out, const std::string& what, const std::set<std::string>& names) {
  if (names.empty()) return;
  std::string text = what + ": " + std::to_string(names.size()) + " (";
  std::size_t n = 0;
  for (const auto& name : names) {
    if (n == names_in_a_notice) break;
    text += (n++ == 0 ? "" : ", ") + printable(name);
  }
  out.push_back(text + (names.size() > names_in_a_notice ? ", …)" : ")"));
}

std::vector<std::string> notices_of(const whatif::PlayReport& report) {
  std::vector<std::string> out;
  for (const auto& notice : report.notices) out.push_back(printable(notice));
  note(out, "No run of any job is on record, so these never end", report.endless);
  note(out, "Run times were taken from other jobs, because no complete run of their own is on record", report.estimated);
  note(out, "Admission checks that never answered on record, and do not here", report.silent_checks);
  note(out, "Jobs with so many pods that their places are kept by assignments alone", report.without_pods);
  note(out, "Changes on record that met another state here", {report.contested.begin(), report.contested.end()});
  return out;
}

Json result_of(whatif::Comparison comparison, whatif::PlayReport report, Position from, Position until) {
  auto& differences = comparison.differences;
  const std::size_t left_out = differences.size() - std::min(differences.size(), PlayedBranch::differences_max);
  if (left_out != 0) differences.erase(differences.begin() + PlayedBranch::differences_max, differences.end());
  if (report.contested.size() > contested_max) report.contested.resize(contested_max);
  Json out = whatif::to_json(comparison, report, from, until);
  if (left_out != 0) out["differencesLeftOut"] = left_out;
  return out;
}

}  // namespace

Result<PlayedBranch> play_branch(const events::Log& whole, const std::string& domain, const BranchRequest& request, const BranchPlay& how) {
  const InterruptibleLog log(whole, how.is_over);
  const auto last = log.last();
  if (!last) return tl::unexpected(last.error());
  const Position from = request.from, until = request.until.value_or(*last);
  if (from > *last || until > *last)
    return fail(ErrorKind::invalid, std::string(from > *last ? "from" : "until") + ": found record " +
                                        std::to_string(from > *last ? from : until) + "; allowed: up to the end of log " +
                                        std::string(log.name()) + ", " + std::to_string(*last));
  // All is read once for how the world answered, then up to `until` for what was, and up to there again to play it.
  const std::uint64_t work = *last + 2 * until;
  const auto tell = [&](std::uint64_t before) {
    return [&how, before, work](std::uint64_t done, std::uint64_t) {
      if (how.progress) how.progress(std::min(before + done, work), work);
    };
  };

  Edits edits(request, how);
  whatif::Responses responses;
  const auto see = [&](const events::StoredRecord& stored, const RecordView& record) {
    responses.remember_gone(stored.offset > from);
    responses.see(record);
    edits.see(record);
    return true;
  };
  if (*last != 0)
    if (auto ok = replay::scan(log, domain, 1, *last, see, tell(0)); !ok) return tl::unexpected(ok.error());
  if (auto ok = edits.check_dropped(log); !ok) return tl::unexpected(ok.error());

  whatif::Ledger was;
  Time begin, end;
  Result<whatif::Changes> changes = whatif::Changes{};
  {
    replay::Past past(log, domain, {.progress = tell(*last)});
    if (auto ok = past.go_to(from); !ok) return tl::unexpected(ok.error());
    begin = past.driver().domain().now();
    changes = edits.changes(past.driver(), responses);
    if (!changes) return tl::unexpected(changes.error());
    was.begin(past.driver());
    past.tell_progress(tell(*last + from));
    past.look_on({}, [&](Position, const RecordView& r) { was.see(r, past.driver()); });
    if (auto ok = past.fold_to(until); !ok) return tl::unexpected(ok.error());
    end = past.driver().domain().now();
    was.end(end);
  }

  whatif::Ledger would_be;
  whatif::PlayOptions options{.from = from, .until = until};
  if (!request.until) options.beyond = end - begin;
  options.out = how.out;
  options.on_begin = [&](const admission::LoopDriver& driver) { would_be.begin(driver); };
  options.on_record = [&](const RecordView& r, const admission::LoopDriver& driver) { would_be.see(r, driver); };
  options.progress = tell(*last + until + from);
  options.is_over = how.is_over;
  whatif::Player player(log, domain, responses, std::move(*changes), options);
  auto report = player.play();
  if (!report) return tl::unexpected(report.error());
  would_be.end(report->end);
  if (how.progress) how.progress(work, work);
  PlayedBranch out;
  out.notices = notices_of(*report);
  out.end = report->end;
  out.result =
      std::make_shared<const Json>(result_of(whatif::compare(std::move(was), std::move(would_be)), std::move(*report), from, until));
  return out;
}

}  // namespace hindsight::page
