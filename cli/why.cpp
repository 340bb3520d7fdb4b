#include "projections/why.hpp"

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "admission/domain/domain.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "cli/why_queue.hpp"
#include "projections/gates.hpp"
#include "projections/quarantine.hpp"
#include "replay/scan.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

struct WhyOptions {
  PastOptions past;
  std::string workload, namespace_ = "default", format;
};

std::string moment_line(const Journey& journey) { return "At " + moment_text(journey.position(), journey.state().now()) + "\n"; }

/// Only who waits has remedies, and they need a copy.
std::optional<projections::Stage> stage_for(const Journey& journey, const projections::WorkloadAt& at) {
  const bool waits = !at.workload->finished() && (!at.workload->reserved() || at.workload->evicted() || at.workload->family);
  if (!waits) return std::nullopt;
  return projections::Stage::of_tree(journey.past->driver(), at);
}

/// For somebody who sits before it: first the facts, then each remedy when it was played.
void show_as_it_comes(const Session& session, const Journey& journey, const projections::WorkloadAt& at, const projections::Trail& trail) {
  session.out << moment_line(journey);
  const projections::Why* of = nullptr;
  std::optional<bool> played;
  projections::WhyListener listener;
  listener.facts = [&](const projections::Why& facts) { session.out << projections::to_text(facts) << std::flush; };
  listener.remedy = [&](const projections::Why& whose, const projections::Remedy& remedy) {
    if (of != &whose || played != remedy.played.has_value()) {
      if (!whose.flavors.empty()) session.out << printable(whose.object) << ":\n";
      session.out << projections::remedies_title(remedy.played.has_value()) << "\n";
    }
    of = &whose;
    played = remedy.played.has_value();
    session.out << "  " << projections::remedy_line(remedy) << "\n" << std::flush;
  };
  listener.further_fact = [&](const projections::Why&, const std::string& fact) { session.out << "- " << printable(fact) << "\n"; };
  const auto stage = stage_for(journey, at);
  (void)projections::explain(journey.state(), at, trail, stage ? &*stage : nullptr, listener);
}

Result<int> why(const Session& session, const WhyOptions& o) {
  const auto queue = projections::parse_queue_target(o.workload, o.namespace_);
  if (!queue) return tl::unexpected(queue.error());
  if (*queue) return print_queue_reasons(session, o.past, **queue, o.format);
  const auto target = projections::parse_target(o.workload, o.namespace_);
  if (!target) return tl::unexpected(target.error());
  const auto journey = travel(session, o.past);
  if (!journey) return tl::unexpected(journey.error());

  const auto set_aside = journey->log->quarantined();
  if (!set_aside) return tl::unexpected(set_aside.error());
  projections::Trail trail(*target);
  ProgressBar bar(session, "reading");
  const auto see = [&](const events::StoredRecord& stored, const RecordView& record) {
    if (replay::find_quarantined(*set_aside, stored) == nullptr) trail.add(stored.offset, record);
    return true;
  };
  if (auto ok = replay::scan(*journey->log, journey->past->domain_name(), 1, journey->position(), see, bar.callback()); !ok)
    return tl::unexpected(ok.error());
  bar.clear();

  const auto& state = journey->state();
  const auto at = projections::find_workload(state, *target);
  const bool text = o.format == "text";
  if (at && text && session.out_is_terminal) {
    show_as_it_comes(session, *journey, *at, trail);
    return exit_ok;
  }
  std::optional<projections::Why> explanation;
  if (at) {
    const auto stage = stage_for(*journey, *at);
    explanation = projections::explain(state, *at, trail, stage ? &*stage : nullptr);
  } else {
    explanation = projections::explain_gate(state, *target);
  }
  if (!explanation && !at) explanation = projections::explain_quarantine(state, *target);
  if (!explanation && !at && at.error().kind == ErrorKind::not_found) explanation = projections::explain_gone(state, trail);
  if (!explanation) {
    Error error = at.error();
    if (trail.met() && error.kind == ErrorKind::not_found)
      error.message += " at " + std::to_string(journey->position()) + "; 'hindsight history' tells when it was there";
    return tl::unexpected(std::move(error));
  }
  if (text) {
    session.out << moment_line(*journey) << projections::to_text(*explanation);
  } else {
    Json out{{"position", journey->position()}, {"time", format_rfc3339_micro(state.now())}};
    out.update(projections::to_json(*explanation));
    print_document(session, out, o.format);
  }
  return exit_ok;
}

}  // namespace

void add_why(CLI::App& app, Session& session) {
  const auto o = std::make_shared<WhyOptions>();
  auto* c = add_command(app, session, "why",
                        "Why a workload waits, was admitted, evicted or preempted, and what would let it in; or what a queue lacks and who "
                        "uses it; now or at any past moment",
                        "  hindsight why job/train --log hindsight.db\n"
                        "  hindsight why clusterqueue/team-a --log hindsight.db\n"
                        "  hindsight why team-a/job-train-1f2e3 --at 2026-01-01T00:00:10Z -o json --log hindsight.db",
                        [o, &session] { return why(session, *o); });
  c->add_option("workload", o->workload,
                "NAME, NAMESPACE/NAME, job/NAME, job/NAMESPACE/NAME; or clusterqueue/NAME, cohort/NAME, localqueue/NAMESPACE/NAME")
      ->required();
  c->add_option("-n,--namespace", o->namespace_, "The namespace")->default_str("default");
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_past_options(*c, o->past, true);
}

}  // namespace hindsight::cli
