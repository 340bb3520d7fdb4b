#include "simulation/generate.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "connectors/manifests/finding.hpp"
#include "connectors/manifests/json_views.hpp"
#include "connectors/manifests/schema.hpp"
#include "connectors/manifests/syntax.hpp"
#include "connectors/manifests/yaml_reader.hpp"
#include "simulation/load_random.hpp"
#include "vocabulary/amount.hpp"
#include "vocabulary/limits.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::simulation {
namespace {

using connectors::manifests::Findings;
using connectors::manifests::member;
using connectors::manifests::number;
using connectors::manifests::text;
using PlanJson = connectors::manifests::Json;

__extension__ using WideSigned = __int128;

constexpr std::size_t hours_a_day = 24;
constexpr Duration hour = Duration::seconds(3600);
constexpr std::int64_t hourly_max = 1'000'000;  // arrivals in one hour
constexpr Duration run_max_by_default = Duration::seconds(30 * 24 * 3600);
/// What 95 of 100 numbers of a normal distribution are below: 1.644854.
constexpr Fixed32 normal_p95 = 7'064'592'534;

/// The form of a file; what it does not say is checked below.
const connectors::manifests::Schema& plan_schema() {
  static const connectors::manifests::SchemaTable table({R"(
@Time
  kind!              enum=fixed|exponential|lognormal
  value, mean        string
  median, p95, max   string
@Load
  seed               int64 min=0
  count              int64 min=1 max=100000
  until              string
  arrival!
    kind!            enum=fixed|exponential|daily
    every, mean      string
    perHour          list<int64> min=24 max=24
  jobs!              list(name) min=1 max=100
    name!            label
    weight           int64 min=0 max=1000000
    runTime!         @Time
    pods             int64 min=1 max=1000000
    requests!        map<quantity> min=1 max=16
    queues!          list min=1 max=1000
      namespace      label
      queue!         dns
      weight         int64 min=0 max=1000000
    priorities       list min=1 max=100
      class!         string
      weight         int64 min=0 max=1000000
)"});
  return table.at("Load");
}

/// Draws one of several by their weights.
class Weights {
 public:
  void add(std::int64_t weight) { sums_.push_back(total() + static_cast<std::uint64_t>(weight)); }
  [[nodiscard]] std::uint64_t total() const { return sums_.empty() ? 0 : sums_.back(); }
  [[nodiscard]] std::size_t draw(LoadRandom& random) const {
    const std::uint64_t at = random.below(total());
    return static_cast<std::size_t>(std::upper_bound(sums_.begin(), sums_.end(), at) - sums_.begin());
  }

 private:
  std::vector<std::uint64_t> sums_;
};

/// How long jobs run.
struct RunTimes {
  enum class Form : std::uint8_t { fixed, exponential, lognormal } form = Form::fixed;
  std::int64_t centre = 0;  ///< Microseconds: the value, the mean or the median.
  Fixed32 spread = 0;       ///< lognormal: log₂(p95 ÷ median).
  std::int64_t most = 0;

  [[nodiscard]] Duration draw(LoadRandom& random) const {
    std::int64_t micros = centre;
    if (form == Form::exponential) micros = times_fixed(centre, random.exponential());
    if (form == Form::lognormal)
      micros = times_power_of_two(centre, static_cast<Fixed32>(WideSigned{spread} * random.normal() / normal_p95));
    return Duration{std::min(micros, most)};
  }
};

/// When jobs arrive, one after the other.
struct Arrivals {
  enum class Form : std::uint8_t { fixed, exponential, daily } form = Form::fixed;
  std::int64_t gap = 0;  ///< Microseconds: the whole, or the mean.
  std::array<std::int64_t, hours_a_day> hourly{};

  /// From the first arrival on `now` is the one before.
  [[nodiscard]] std::int64_t next(std::int64_t now, bool first, LoadRandom& random) const {
    if (form == Form::fixed) return first ? 0 : now + gap;
    if (form == Form::exponential) return now + times_fixed(gap, random.exponential());
    return next_of_day(now, random.exponential());
  }

  /// The hour's arrivals pass like a clock that goes `hourly` times an hour: when it has gone on by `left`, the next job is there.
  [[nodiscard]] std::int64_t next_of_day(std::int64_t now, Fixed32 left) const {
    while (now <= load_span_max.micros) {
      const auto rate = hourly[static_cast<std::size_t>(now / hour.micros) % hours_a_day];
      const std::int64_t rest = hour.micros - now % hour.micros;
      const auto passes = static_cast<WideSigned>(rate) * rest * fixed_one / hour.micros;
      if (left < passes)
        return now + static_cast<std::int64_t>(static_cast<WideSigned>(left) * hour.micros / (WideSigned{rate} * fixed_one));
      left -= static_cast<Fixed32>(passes);
      now += rest;
    }
    return now;
  }
};

struct JobForm {
  std::string name;
  RunTimes runs;
  std::int32_t pods = 1;
  std::vector<std::pair<std::string, std::string>> requests;
  std::vector<std::pair<std::string, std::string>> queues;  ///< Namespace and LocalQueue.
  std::vector<std::string> classes;                         ///< Empty: none.
  Weights queue_weights, class_weights;
};

struct Plan {
  std::uint64_t seed = 1;
  std::optional<std::size_t> count;
  std::optional<Duration> until;  ///< One of the two is there.
  Arrivals arrivals;
  std::vector<JobForm> forms;
  Weights form_weights;
};

/// Reads what the schema let through, and finds what it cannot see.
class PlanReader {
 public:
  PlanReader(const std::string& without, Findings& findings) : namespace_(without), findings_(findings) {}

  Plan read(const PlanJson& file) {
    Plan out;
    out.seed = static_cast<std::uint64_t>(number(file, "seed").value_or(1));
    if (const auto count = number(file, "count")) out.count = static_cast<std::size_t>(*count);
    if (!member(file, "until").is_null()) out.until = span(file, "until", "until", load_span_max);
    if (!out.count && !out.until) findings_.required("count", "count, until, or both: when it ends");
    read_arrival(member(file, "arrival"), out.arrivals);
    const PlanJson& jobs = member(file, "jobs");
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      out.forms.push_back(read_form(jobs[i], connectors::manifests::at("jobs", i)));
      out.form_weights.add(weight_of(jobs[i]));
    }
    if (out.form_weights.total() == 0) findings_.invalid("jobs", PlanJson(), "the weights of all are 0; allowed: at least one above");
    return out;
  }

 private:
  static std::int64_t weight_of(const PlanJson& of) { return number(of, "weight").value_or(1); }

  /// A field that must be there, above 0 and at most `most`.
  Duration span(const PlanJson& object, std::string_view name, const std::string& field, Duration most) {
    const PlanJson& value = member(object, name);
    if (value.is_null()) {
      findings_.required(field, "a span of time, as \"90s\" or \"1h30m\"");
      return Duration{1};
    }
    const auto read = parse_duration(text(object, name));
    if (read && read->micros > 0 && *read <= most) return *read;
    findings_.invalid(field, value,
                      "must be a span of time above 0 and at most " + std::to_string(most.micros / 1'000'000) + "s, as \"90s\"");
    return Duration{1};
  }

  /// Of `names` only those in `allowed` may be there.
  void only(const PlanJson& object, const std::string& field, std::string_view kind, std::initializer_list<std::string_view> names,
            std::initializer_list<std::string_view> allowed) {
    for (const auto name : names)
      if (!member(object, name).is_null() && std::find(allowed.begin(), allowed.end(), name) == allowed.end())
        findings_.forbidden(field + "." + std::string(name), "says nothing with kind " + std::string(kind));
  }

  void read_arrival(const PlanJson& arrival, Arrivals& out) {
    const auto kind = text(arrival, "kind");
    const auto others = [&](std::initializer_list<std::string_view> allowed) {
      only(arrival, "arrival", kind, {"every", "mean", "perHour"}, allowed);
    };
    if (kind == "fixed") {
      others({"every"});
      out.form = Arrivals::Form::fixed;
      out.gap = span(arrival, "every", "arrival.every", load_span_max).micros;
    } else if (kind == "exponential") {
      others({"mean"});
      out.form = Arrivals::Form::exponential;
      out.gap = span(arrival, "mean", "arrival.mean", load_span_max).micros;
    } else {
      others({"perHour"});
      out.form = Arrivals::Form::daily;
      read_hours(member(arrival, "perHour"), out);
    }
  }

  void read_hours(const PlanJson& hours, Arrivals& out) {
    if (!hours.is_array() || hours.size() != hours_a_day)
      return findings_.required("arrival.perHour", "24 whole numbers: how many jobs arrive in each hour of the day");
    std::int64_t all = 0;
    for (std::size_t i = 0; i < hours_a_day; ++i) {
      const std::int64_t value = hours[i].is_number_integer() ? hours[i].get<std::int64_t>() : -1;
      if (value < 0 || value > hourly_max)
        findings_.invalid(connectors::manifests::at("arrival.perHour", i), hours[i], "must be from 0 to " + std::to_string(hourly_max));
      else
        all += out.hourly[i] = value;
    }
    if (all == 0) findings_.invalid("arrival.perHour", PlanJson(), "nobody arrives in any hour; allowed: at least one number above 0");
  }

  RunTimes read_runs(const PlanJson& runs, const std::string& field) {
    RunTimes out;
    const auto kind = text(runs, "kind");
    const auto others = [&](std::initializer_list<std::string_view> allowed) {
      only(runs, field, kind, {"value", "mean", "median", "p95"}, allowed);
    };
    out.most = (member(runs, "max").is_null() ? run_max_by_default : span(runs, "max", field + ".max", load_span_max)).micros;
    if (kind == "fixed") {
      others({"value"});
      out.centre = span(runs, "value", field + ".value", load_span_max).micros;
    } else if (kind == "exponential") {
      others({"mean"});
      out.form = RunTimes::Form::exponential;
      out.centre = span(runs, "mean", field + ".mean", load_span_max).micros;
    } else {
      others({"median", "p95"});
      out.form = RunTimes::Form::lognormal;
      out.centre = span(runs, "median", field + ".median", load_span_max).micros;
      const std::int64_t p95 = span(runs, "p95", field + ".p95", load_span_max).micros;
      if (p95 < out.centre)
        findings_.invalid(field + ".p95", member(runs, "p95"), "must not be less than the median, which half of all are below");
      else
        out.spread = log2_of(static_cast<std::uint64_t>(p95)) - log2_of(static_cast<std::uint64_t>(out.centre));
    }
    return out;
  }

  JobForm read_form(const PlanJson& form, const std::string& field) {
    JobForm out;
    out.name = text(form, "name");
    if (out.name.size() > 50)
      findings_.invalid(field + ".name", member(form, "name"), "must have at most 50 characters: a number follows it");
    out.pods = static_cast<std::int32_t>(number(form, "pods").value_or(1));
    out.runs = read_runs(member(form, "runTime"), field + ".runTime");
    for (const auto& [resource, quantity] : member(form, "requests").items()) read_request(resource, quantity, field + ".requests", out);
    const PlanJson& queues = member(form, "queues");
    for (const auto& queue : queues) {
      const auto space = text(queue, "namespace");
      out.queues.emplace_back(space.empty() ? namespace_ : std::string(space), std::string(text(queue, "queue")));
      out.queue_weights.add(weight_of(queue));
    }
    if (out.queue_weights.total() == 0)
      findings_.invalid(field + ".queues", PlanJson(), "the weights of all are 0; allowed: at least one above");
    const PlanJson& classes = member(form, "priorities");
    for (std::size_t i = 0; i < classes.size(); ++i) {
      out.classes.emplace_back(text(classes[i], "class"));
      out.class_weights.add(weight_of(classes[i]));
      if (!out.classes.back().empty() && !connectors::manifests::is_dns_subdomain(out.classes.back()))
        findings_.invalid(connectors::manifests::at(field + ".priorities", i) + ".class", member(classes[i], "class"),
                          "must be the name of a WorkloadPriorityClass, or empty for none");
    }
    if (!out.classes.empty() && out.class_weights.total() == 0)
      findings_.invalid(field + ".priorities", PlanJson(), "the weights of all are 0; allowed: at least one above");
    return out;
  }

  void read_request(const std::string& resource, const PlanJson& quantity, const std::string& path, JobForm& out) {
    const std::string field = path + "[" + resource + "]";
    if (!connectors::manifests::is_qualified_name(resource))
      return findings_.invalid(field, PlanJson(resource), "must be the name of a resource");
    const std::string written = quantity.is_string() ? quantity.get<std::string>() : quantity.dump();
    const auto amount = parse_quantity(written, resource);
    if (!amount || *amount < 0 || multiply(*amount, out.pods) > limits::total_amount.most)
      return findings_.invalid(field, quantity,
                               "must be an amount that is not negative, with all pods at most " +
                                   std::to_string(limits::total_amount.most) + " units (of cpu: thousandths)");
    out.requests.emplace_back(resource, written);
  }

  const std::string& namespace_;  ///< Of queues that name none.
  Findings& findings_;
};

Result<Load> draw_plan(const Plan& plan, const std::string& file) {
  Load out;
  LoadRandom arrivals(plan.seed, 0);
  std::int64_t now = 0;
  for (std::size_t i = 0; !plan.count || i < *plan.count; ++i) {
    now = plan.arrivals.next(now, i == 0, arrivals);
    if (plan.until && now > plan.until->micros) break;
    if (now > load_span_max.micros)
      return fail(ErrorKind::invalid, file + ": arrival: job " + std::to_string(i + 1) + " would arrive after more than " +
                                          std::to_string(load_span_max.micros / 1'000'000) + " s; allowed: all of them before");
    if (i == load_jobs_max)
      return fail(ErrorKind::invalid, file + ": until: more than " + std::to_string(load_jobs_max) +
                                          " jobs arrive before it; allowed: at most " + std::to_string(load_jobs_max));
    LoadRandom random(plan.seed, i + 1);  // of its own: who changes the arrivals changes no job
    const JobForm& form = plan.forms[plan.form_weights.draw(random)];
    LoadJob job;
    job.arrives = Duration{now};
    job.runs = form.runs.draw(random);
    const std::string count = std::to_string(i + 1);
    job.name = form.name + "-" + std::string(count.size() < 6 ? 6 - count.size() : 0, '0') + count;
    const auto& [space, queue] = form.queues[form.queue_weights.draw(random)];
    job.namespace_ = space;
    job.queue = queue;
    if (!form.classes.empty()) job.priority_class = form.classes[form.class_weights.draw(random)];
    job.pods = form.pods;
    job.requests = form.requests;
    out.jobs.push_back(std::move(job));
  }
  return out;
}

/// What is wrong, one line each: "load.yaml:3: arrival.kind: …".
Error plan_error(const std::vector<connectors::manifests::Problem>& problems, std::string_view text, const std::string& file) {
  std::string out;
  for (std::size_t i = 0; i < problems.size() && i < load_told_max; ++i) {
    const int line = connectors::manifests::line_of(text, 0, problems[i].field);
    out += (i == 0 ? "" : "\n") +
           printable(file + ":" + std::to_string(std::max(line, 1)) + ": " + connectors::manifests::describe(problems[i]));
  }
  if (problems.size() > load_told_max) out += "\nand " + std::to_string(problems.size() - load_told_max) + " more";
  return {ErrorKind::invalid, std::move(out)};
}

}  // namespace

Result<Load> generate_load(std::string_view text, const std::string& file, const std::string& namespace_) {
  const auto documents = connectors::manifests::read_yaml(text);
  if (!documents) return fail(documents.error().kind, printable(file + ": " + documents.error().message));
  if (documents->size() != 1)
    return fail(ErrorKind::invalid, printable(file) + ": found " + std::to_string(documents->size()) + " documents; allowed: one");
  const PlanJson& value = documents->front().value;
  std::vector<connectors::manifests::Problem> problems;
  connectors::manifests::check(plan_schema(), value, "", connectors::manifests::UnknownFields::reported, problems);
  if (!problems.empty()) return tl::unexpected(plan_error(problems, text, file));
  Findings findings(problems);
  const Plan plan = PlanReader(namespace_, findings).read(value);
  if (!problems.empty()) return tl::unexpected(plan_error(problems, text, file));
  return draw_plan(plan, printable(file));
}

}  // namespace hindsight::simulation
