#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "admission/domain/domain.hpp"
#include "cli/commands.hpp"
#include "cli/naming.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "cli/why_queue.hpp"
#include "projections/explain_target.hpp"
#include "projections/noted.hpp"
#include "projections/why.hpp"
#include "replay/scan.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

struct WhyOptions {
  PastOptions past;
  std::string workload, namespace_ = "default", format;
};

std::string moment_line(const Journey& journey) { return "At " + moment_text(journey.position(), journey.state().now()) + "\n"; }

/// For somebody who sits before it: first the facts, then each remedy when it was played.
class ShownAsItComes {
 public:
  ShownAsItComes(const Session& session, const Journey& journey) : session_(session), journey_(journey) {}

  [[nodiscard]] projections::WhyListener listener() {
    return {[this](const projections::Why& facts) { session_.out << moment_line(journey_) << projections::to_text(facts) << std::flush; },
            [this](const projections::Why& whose, const projections::Remedy& remedy) { show(whose, remedy); },
            [this](const projections::Why&, const std::string& fact) { session_.out << "- " << printable(fact) << "\n"; }};
  }

 private:
  void show(const projections::Why& whose, const projections::Remedy& remedy) {
    if (of_ != &whose || played_ != remedy.played.has_value()) {
      if (!whose.flavors.empty()) session_.out << printable(whose.object) << ":\n";
      session_.out << projections::remedies_title(remedy.played.has_value()) << "\n";
    }
    of_ = &whose;
    played_ = remedy.played.has_value();
    session_.out << "  " << projections::remedy_line(remedy) << "\n" << std::flush;
  }

  const Session& session_;
  const Journey& journey_;
  const projections::Why* of_ = nullptr;
  std::optional<bool> played_;
};

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
  projections::Noted noted(*target);
  ProgressBar bar(session, "reading");
  const auto see = [&](const events::StoredRecord& stored, const RecordView& record) {
    if (replay::find_quarantined(*set_aside, stored) != nullptr) return true;
    trail.add(stored.offset, record);
    noted.add(stored.offset, record);
    return true;
  };
  if (auto ok = replay::scan(*journey->log, journey->past->domain_name(), 1, journey->position(), see, bar.callback()); !ok)
    return tl::unexpected(ok.error());
  bar.clear();

  const auto& state = journey->state();
  const bool text = o.format == "text", as_it_comes = text && session.out_is_terminal;
  ShownAsItComes shown(session, *journey);
  const auto explanation = projections::explain_target(
      state, *target, trail, [&](const projections::WorkloadAt& at) { return projections::Stage::of_tree(journey->past->driver(), at); },
      as_it_comes ? shown.listener() : projections::WhyListener{});
  if (!explanation) {
    Error error = explanation.error();
    if (trail.met() && error.kind == ErrorKind::not_found)
      error.message += " at " + std::to_string(journey->position()) + "; 'hindsight history' tells when it was there";
    return tl::unexpected(std::move(error));
  }
  if (as_it_comes) {
    session.out << projections::to_text(noted);
    return exit_ok;
  }
  if (text) {
    session.out << moment_line(*journey) << projections::to_text(*explanation) << projections::to_text(noted);
  } else {
    Json out{{"position", journey->position()}, {"time", format_rfc3339_micro(state.now())}};
    out.update(projections::to_json(*explanation));
    if (!noted.lines().empty()) out["noted"] = projections::to_json(noted);
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
  const auto* one = c->add_option("-n,--namespace", o->namespace_, "The namespace")->default_str("default");
  c->get_option("workload")->check(in_namespace_of(one));
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_past_options(*c, o->past, true);
}

}  // namespace hindsight::cli
