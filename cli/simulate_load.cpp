#include "cli/simulate_load.hpp"

#include <iterator>

#include "connectors/manifests/syntax.hpp"
#include "simulation/generate.hpp"
#include "simulation/load.hpp"
#include "simulation/trace.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

constexpr std::string_view by_name = "name=";

Result<simulation::TraceOptions> trace_options(const LoadOptions& o) {
  simulation::TraceOptions out;
  if (o.trace_format == "swf") out.format = simulation::TraceFormat::swf;
  if (o.trace_format == "sacct") out.format = simulation::TraceFormat::sacct;
  out.namespace_ = o.namespace_;
  out.priorities = o.trace_priorities;
  if (o.trace_queue == "account") {
    out.queue = simulation::TraceQueue::account;
  } else if (o.trace_queue == "user") {
    out.queue = simulation::TraceQueue::user;
  } else if (o.trace_queue.starts_with(by_name)) {
    out.queue = simulation::TraceQueue::named;
    out.queue_name = o.trace_queue;
    out.queue_name.erase(0, by_name.size());
    if (!connectors::manifests::is_dns_subdomain(out.queue_name))
      return fail(ErrorKind::invalid,
                  "--trace-queue: found \"" + printable(o.trace_queue) + "\"; allowed: name= and the name of a LocalQueue");
  } else if (o.trace_queue != "partition") {
    return fail(ErrorKind::invalid,
                "--trace-queue: found \"" + printable(o.trace_queue) + "\"; allowed: partition, account, user, name=LOCALQUEUE");
  }
  return out;
}

Result<void> check_together(const LoadOptions& o, const connectors::manifests::Input& input) {
  const bool of_trace = o.trace_format != "auto" || o.trace_queue != "partition" || o.trace_priorities;
  if (o.trace.empty() && of_trace)
    return fail(ErrorKind::invalid, "--trace-format, --trace-queue, --trace-priorities: found without --trace; allowed: with it");
  if (o.trace.empty() && o.generate.empty() && o.namespace_ != "default")
    return fail(ErrorKind::invalid, "-n: found without --generate and --trace; allowed: with one of them, whose jobs it is for");
  if (!connectors::manifests::is_dns_label(o.namespace_))
    return fail(ErrorKind::invalid, "-n: found \"" + printable(o.namespace_) + "\"; allowed: the name of a namespace");
  if (!input.scenarios.empty() && !(o.trace.empty() && o.generate.empty()))
    return fail(ErrorKind::invalid, "--generate, --trace: found with a scenario; allowed: with manifests");
  return {};
}

}  // namespace

void add_load_options(CLI::App& command, LoadOptions& options) {
  command.add_option("--generate", options.generate, "Add jobs that are drawn from a seed as this file describes them (docs/generate.md)")
      ->type_name("FILE");
  command
      .add_option("--trace", options.trace,
                  "Add the jobs of another system: a trace of the Standard Workload Format, or what sacct -P prints")
      ->type_name("FILE");
  command.add_option("--trace-format", options.trace_format, "Of what format the trace is; auto: as it looks")
      ->check(CLI::IsMember({"auto", "swf", "sacct"}))
      ->capture_default_str();
  command
      .add_option("--trace-queue", options.trace_queue,
                  "After what the LocalQueues of its jobs are called: partition, account, user, or name=LOCALQUEUE for one")
      ->capture_default_str();
  command.add_flag("--trace-priorities", options.trace_priorities, "Make a WorkloadPriorityClass of each priority in the trace");
  command
      .add_option("-n,--namespace", options.namespace_, "The namespace of the jobs of a trace, and of drawn ones whose queue names none")
      ->capture_default_str();
}

Result<std::vector<std::string>> add_load(const LoadOptions& options, connectors::manifests::Input& input) {
  if (auto ok = check_together(options, input); !ok) return tl::unexpected(ok.error());
  std::vector<std::string> notices;
  const auto add = [&](simulation::Load load, const std::string& source) {
    auto told = simulation::missing_queues(load, input.manifests);
    std::move(load.notices.begin(), load.notices.end(), std::back_inserter(notices));
    std::move(told.begin(), told.end(), std::back_inserter(notices));
    auto made = simulation::manifests_of(load, source);
    std::move(made.begin(), made.end(), std::back_inserter(input.manifests));
  };
  if (!options.generate.empty()) {
    const auto text = simulation::read_load_file(options.generate);
    if (!text) return tl::unexpected(text.error());
    auto load = simulation::generate_load(*text, options.generate, options.namespace_);
    if (!load) return tl::unexpected(load.error());
    add(std::move(*load), options.generate);
  }
  if (!options.trace.empty()) {
    const auto how = trace_options(options);
    if (!how) return tl::unexpected(how.error());
    const auto text = simulation::read_load_file(options.trace);
    if (!text) return tl::unexpected(text.error());
    auto load = simulation::read_trace(*text, options.trace, *how);
    if (!load) return tl::unexpected(load.error());
    add(std::move(*load), options.trace);
  }
  return notices;
}

}  // namespace hindsight::cli
