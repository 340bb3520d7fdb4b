#include "cli/how.hpp"

#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <sstream>

#include "admission/domain/domain.hpp"
#include "cli/commands.hpp"
#include "cli/naming.hpp"
#include "cli/option_checks.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "page/views/decisions.hpp"
#include "projections/format.hpp"
#include "projections/lookup.hpp"
#include "projections/why_queue.hpp"
#include "replay/moment.hpp"
#include "replay/scan.hpp"
#include "vocabulary/limits.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

using projections::HowFilter;
using projections::HowOptions;

constexpr std::string_view rules_of_words =
    "allowed: NAME, NAMESPACE/NAME, KIND/NAME, KIND/NAMESPACE/NAME, where KIND is workload, job, jobset, raycluster or rayjob, or "
    "clusterqueue/NAME";

struct HowCommand {
  PastOptions past;
  std::string moment = "latest", who, namespace_ = "default", format;
  std::size_t heads = HowOptions{}.heads;
};

/// A position means its record, whatever that is; every other moment the last decision up to it.
Result<replay::Position> decision_at(const events::Log& log, const std::string& domain, const std::string& text) {
  const auto moment = replay::parse_moment(text);
  if (!moment) return tl::unexpected(moment.error());
  if (moment->kind == replay::Moment::Kind::position) return moment->position;
  const auto upto = replay::resolve(log, *moment);
  if (!upto) return upto;
  const auto first = log.first();
  if (!first) return first;
  replay::Position end = *upto, found = 0;
  for (replay::Position size = 256; found == 0 && end >= *first; size *= 4) {
    const replay::Position begin = end - *first >= size ? end - size + 1 : *first;
    const auto see = [&](const events::StoredRecord& stored, const RecordView& record) {
      if (std::holds_alternative<Decisions>(record.body)) found = stored.offset;
      return true;
    };
    if (auto ok = replay::scan(log, domain, begin, end, see); !ok) return tl::unexpected(ok.error());
    if (begin == *first) break;
    end = begin - 1;
  }
  if (found == 0)
    return fail(ErrorKind::not_found, "log " + std::string(log.name()) + " has no decision up to record " + std::to_string(*upto));
  return found;
}

Result<int> how(const Session& session, const HowCommand& o) {
  const auto log = open_for_reading(o.past);
  if (!log) return tl::unexpected(log.error());
  const auto domain = replay::choose_domain(**log, o.past.domain);
  if (!domain) return tl::unexpected(domain.error());
  const auto at = decision_at(**log, *domain, o.moment);
  if (!at) return tl::unexpected(at.error());
  HowOptions options;
  options.heads = o.heads;
  ProgressBar bar(session, "folding");
  const auto last = (*log)->last();
  if (!last) return tl::unexpected(last.error());
  if (!o.who.empty() && *at != 0 && *at <= *last) {  // else there is no such record, which is the error
    replay::Past past(**log, *domain, {.progress = bar.callback()});
    if (auto ok = fold(past, *at); !ok) return tl::unexpected(ok.error());
    if (auto ok = add_to_filter(past.driver(), o.who, o.namespace_, options.filter); !ok) return tl::unexpected(ok.error());
  }
  const auto again = replay::decide_again(**log, *domain, *at, trace_for(options.filter), bar.callback());
  bar.clear();
  if (!again) return tl::unexpected(again.error());
  if (o.format == "text")
    session.out << how_text(*again, options);
  else
    print_document(session, how_json(*again, options.filter), o.format);
  return again->as_recorded() ? exit_ok : exit_failure;
}

}  // namespace

Result<void> add_to_filter(const admission::StateView& state, std::string_view word, std::string_view default_namespace,
                           HowFilter& filter) {
  const auto queue = projections::parse_queue_target(word, default_namespace);
  if (!queue) return tl::unexpected(queue.error());
  if (*queue) {
    if ((*queue)->kind != projections::QueueTarget::Kind::cluster_queue)
      return fail(ErrorKind::invalid, "found \"" + std::string(word) + "\" for whom to tell of; " + std::string(rules_of_words));
    filter.cluster_queue = (*queue)->name;
    return {};
  }
  const auto target = projections::parse_target(word, default_namespace);
  if (!target) return fail(target.error().kind, "found \"" + std::string(word) + "\" for whom to tell of; " + std::string(rules_of_words));
  const auto at = projections::find_workload(state, *target);
  if (!at && !target->is_workload()) return tl::unexpected(at.error());
  filter.workload = at ? projections::full_name(at->workload->namespace_.text(), at->workload->name)
                       : projections::full_name(target->namespace_, target->name);  // it may have gone with this very decision
  if (at)
    if (const auto& job = at->parent->job()) filter.job = projections::full_name(job->namespace_.text(), job->name);
  return {};
}

std::string how_text(const replay::DecidedAgain& again, const HowOptions& options) {
  if (again.as_recorded()) return projections::how_text(page::told_decision(again), options);
  const auto& difference = *again.judgement.difference;
  std::ostringstream out;
  out << "Decision " << again.position << " at " << format_rfc3339_micro(again.time) << ", made on record " << again.base << "\n  "
      << printable(again.base_record) << "\nMade again, it does not come out as recorded, so how it came about cannot be told.\n  "
      << (difference.event_kind.empty() ? std::string("the step")
                                        : "event " + std::to_string(difference.event) + ", " + difference.event_kind)
      << ", " << printable(difference.field) << ": recorded " << printable(difference.recorded) << ", made again "
      << printable(difference.computed) << "\n"
      << projections::why_otherwise(page::told_decision(again)) << "\n";
  return std::move(out).str();
}

Json how_json(const replay::DecidedAgain& again, const HowFilter& filter) {
  if (again.as_recorded()) return projections::how_json(page::told_decision(again), filter);
  const auto& difference = *again.judgement.difference;
  return projections::how_otherwise_json(
      page::told_decision(again),
      projections::MadeOtherwise{difference.event, difference.event_kind, difference.field, difference.recorded, difference.computed});
}

Result<HowOptions> read_how(const admission::StateView& state, std::string_view words) {
  HowOptions out;
  std::vector<std::string> parts;
  std::istringstream in{std::string(words)};
  for (std::string part; in >> part;) parts.push_back(part);
  std::size_t next = 0;
  if (!parts.empty() && parts.front().find_first_not_of("0123456789") == std::string::npos) {
    const std::string& number = parts.front();
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), out.heads);
    if (error != std::errc{} || out.heads == 0 || out.heads > how_heads_max)
      return fail(ErrorKind::invalid,
                  "found " + number + " for how many heads to tell of in detail; allowed: 1 to " + std::to_string(how_heads_max));
    ++next;
  }
  if (next < parts.size())
    if (auto ok = add_to_filter(state, parts[next++], "default", out.filter); !ok) return tl::unexpected(ok.error());
  if (next < parts.size())
    return fail(ErrorKind::invalid, "found \"" + parts[next] + "\"; allowed: [HEADS] [WORKLOAD | clusterqueue/NAME]");
  return out;
}

void add_how(CLI::App& app, Session& session) {
  const auto o = std::make_shared<HowCommand>();
  auto* c = add_command(app, session, "how", "How a decision came about: who was looked at, what was tried, and what became of each",
                        "  hindsight how 71 --log hindsight.db\n"
                        "  hindsight how 71 job/team-a/train-2 --log hindsight.db\n"
                        "  hindsight how 2026-01-01T00:00:10Z clusterqueue/team-a -o json --log hindsight.db",
                        [o, &session] { return how(session, *o); });
  c->add_option("decision", o->moment, "The position of the decision; or a moment, and the last decision up to it is told")
      ->check(is_moment())
      ->default_str("latest");
  c->add_option("who", o->who, "Only who is meant: NAME, NAMESPACE/NAME, job/NAME, job/NAMESPACE/NAME, or clusterqueue/NAME");
  const auto* one = c->add_option("-n,--namespace", o->namespace_, "The namespace")->default_str("default");
  c->get_option("who")->check(in_namespace_of(one));
  c->add_option("--heads", o->heads, "So many workloads are told in detail")->check(whole_number(1, how_heads_max))->capture_default_str();
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_time_zone(*c);
  add_past_options(*c, o->past, false);
}

}  // namespace hindsight::cli
