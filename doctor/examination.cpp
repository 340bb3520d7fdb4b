#include "doctor/examination.hpp"

#include <algorithm>

#include "doctor/checks/certificates.hpp"
#include "doctor/checks/clocks.hpp"
#include "doctor/checks/configuration.hpp"
#include "doctor/checks/controllers.hpp"
#include "doctor/checks/definitions.hpp"
#include "doctor/checks/jobs.hpp"
#include "doctor/checks/log.hpp"
#include "doctor/checks/pods.hpp"
#include "doctor/checks/process.hpp"
#include "doctor/checks/rights.hpp"
#include "doctor/checks/server.hpp"
#include "doctor/checks/set_aside.hpp"
#include "doctor/checks/topologies.hpp"
#include "doctor/checks/visibility.hpp"
#include "doctor/checks/webhooks.hpp"

namespace hindsight::doctor {
namespace {

constexpr Check all_checks[] = {
    {"server", "the API server, its version, and who we are to it", true, &examine_server},
    {"clocks", "the clocks of this machine, the API server and who leads", true, &examine_clocks},
    {"rights", "what the service account may do, against deploy/", true, &examine_rights},
    {"definitions", "the CustomResourceDefinitions, against deploy/crds", true, &examine_definitions},
    {"controllers", "who else acts: Kueue, a second Hindsight", true, &examine_controllers},
    {"webhooks", "whether somebody answers, and is trusted", true, &examine_webhooks},
    {"visibility", "whether the aggregated API is available", true, &examine_visibility},
    {"certificates", "when certificates end, and for whom they are made out", true, &examine_certificates},
    {"pods", "the Deployment, its pods and its volume", true, &examine_pods},
    {"configuration", "the file of --config, or that of the Deployment", false, &examine_configuration},
    {"log", "the log of --log: its disk or brokers, and whether it can be read", false, &examine_log},
    {"process", "what the process of --server says of itself", false, &examine_process},
    {"set-aside", "objects with which nothing is done", true, &examine_set_aside},
    {"jobs", "jobs that run without having been admitted", true, &examine_jobs},
    {"topologies", "labels of nodes that topologies need", true, &examine_topologies},
};

bool is_chosen(const Options& options, std::string_view name) {
  return options.only.empty() || std::find(options.only.begin(), options.only.end(), name) != options.only.end();
}

Outcome run_check(const Check& check, Context& context) {
  if (check.asks_cluster && check.examine != &examine_server && context.cluster == nullptr) {
    // Told once, where the server is looked at, if that was asked for.
    return is_chosen(context.options, "server") ? skipped("the API server cannot be asked") : blind(context.no_cluster);
  }
  if (context.cluster != nullptr) context.cluster->set_deadline(ClusterReader::Clock::now() + context.options.timeout);
  return check.examine(context);
}

}  // namespace

std::span<const Check> checks() { return all_checks; }

std::string check_names() {
  std::string out;
  for (const auto& check : all_checks) out += (out.empty() ? "" : ", ") + std::string(check.name);
  return out;
}

Result<void> check_chosen(const std::vector<std::string>& names) {
  for (const auto& name : names)
    if (std::none_of(std::begin(all_checks), std::end(all_checks), [&](const Check& check) { return check.name == name; }))
      return fail(ErrorKind::invalid, "--only: found \"" + name + "\"; allowed: " + check_names());
  return {};
}

bool ask_cluster(const Options& options) {
  // Where no file is named, the Deployment has one.
  const bool of_deployment = options.config.empty() && options.feature_gates.empty();
  return std::any_of(std::begin(all_checks), std::end(all_checks), [&](const Check& check) {
    return is_chosen(options, check.name) && (check.asks_cluster || (check.examine == &examine_configuration && of_deployment));
  });
}

std::string_view Examined::status() const {
  Severity worst = Severity::note;
  for (const auto& finding : outcome.findings) worst = std::max(worst, finding.severity);
  if (worst == Severity::error) return "error";
  if (worst == Severity::warning) return "warning";
  return outcome.standing == Standing::looked ? "ok" : "skipped";
}

std::size_t Examination::count(Severity severity) const {
  std::size_t out = 0;
  for (const auto& one : checks)
    out += static_cast<std::size_t>(std::count_if(one.outcome.findings.begin(), one.outcome.findings.end(),
                                                  [&](const Finding& finding) { return finding.severity == severity; }));
  return out;
}

int Examination::exit_status() const {
  bool saw_nothing = false;
  for (const auto& one : checks) {
    if (one.outcome.standing == Standing::blind)
      saw_nothing = true;
    else if (one.status() == "error")
      return 1;
  }
  return saw_nothing ? 2 : 0;
}

Examination examine(Context& context, const std::function<void(const Examined&)>& on_done) {
  Examination out;
  bool looked = false;
  for (const auto& check : all_checks) {
    if (!is_chosen(context.options, check.name)) continue;
    if (check.examine != &examine_server && context.cluster != nullptr && !looked) {
      looked = true;
      context.cluster->set_deadline(ClusterReader::Clock::now() + context.options.timeout);
      auto installation = look_for_installation(*context.cluster, context.options.namespace_);
      if (installation)
        context.installation = std::move(*installation);
      else
        context.no_installation = installation.error().message;
    }
    out.checks.push_back({check.name, run_check(check, context)});
    const auto& done = out.checks.back();
    if (check.examine == &examine_server && done.outcome.standing == Standing::blind && context.cluster != nullptr) {
      context.no_cluster = done.outcome.summary;
      context.cluster = nullptr;
    }
    if (on_done) on_done(done);
  }
  return out;
}

}  // namespace hindsight::doctor
