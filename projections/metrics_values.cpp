#include "projections/metrics_values.hpp"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "projections/metrics_gauges.hpp"

namespace hindsight::projections {
namespace {

using prometheus::ClientMetric;
using ClientLabels = std::vector<ClientMetric::Label>;
using ObjectName = std::tuple<Across, std::string, std::string>;  ///< With its namespace, if it has one.

ObjectName object_of(const ClientMetric& metric, Across across) {
  if (across == Across::local_queue) return {across, label_of(metric, "namespace"), label_of(metric, "name")};
  return {across, {}, label_of(metric, across == Across::cohort ? "cohort" : "cluster_queue")};
}

void add_up(ClientMetric& sum, const ClientMetric& more) {
  sum.counter.value += more.counter.value;
  sum.gauge.value += more.gauge.value;
  sum.histogram.sample_count += more.histogram.sample_count;
  sum.histogram.sample_sum += more.histogram.sample_sum;
  // One name has the same bounds everywhere: they are constants of the program.
  const std::size_t buckets = std::min(sum.histogram.bucket.size(), more.histogram.bucket.size());
  for (std::size_t i = 0; i < buckets; ++i) sum.histogram.bucket[i].cumulative_count += more.histogram.bucket[i].cumulative_count;
}

}  // namespace

std::string label_of(const ClientMetric& metric, std::string_view name) {
  const auto it = std::find_if(metric.label.begin(), metric.label.end(), [&](const auto& label) { return label.name == name; });
  return it == metric.label.end() ? std::string() : it->value;
}

struct MetricsValues::Families {
  struct Family {
    std::string help;
    prometheus::MetricType type = prometheus::MetricType::Untyped;
    Across across = Across::sum;
    std::map<ClientLabels, ClientMetric> samples;  ///< Unless they describe objects.
  };
  /// What one domain says of an object.
  struct Description {
    Presence presence;
    bool selected = false;
    std::vector<std::pair<std::string, ClientMetric>> samples;  ///< With the name of the family.
  };

  std::map<std::string, Family> families;
  std::map<ObjectName, Description> objects;
  bool chooses = false;

  void take(prometheus::MetricFamily family, Across across, const Presence& presence) {
    Family& mine = families[family.name];
    mine.help = family.help;
    mine.type = family.type;
    mine.across = across;
    for (auto& metric : family.metric) {
      if (across == Across::same || across == Across::sum) {
        mine.samples.emplace(metric.label, std::move(metric));
        continue;
      }
      Description& object = objects[object_of(metric, across)];
      object.presence = presence;
      object.samples.emplace_back(family.name, std::move(metric));
    }
  }

  void add(Families other) {
    chooses = chooses || other.chooses;
    families.merge(other.families);
    for (auto& [name, theirs] : other.families) {  // those that both have
      Family& mine = families.at(name);
      mine.samples.merge(theirs.samples);
      if (mine.across != Across::sum) continue;
      for (const auto& [labels, metric] : theirs.samples) add_up(mine.samples.at(labels), metric);
    }
    objects.merge(other.objects);
    for (auto& [name, theirs] : other.objects)
      if (Description& mine = objects.at(name); mine.presence < theirs.presence) mine = std::move(theirs);
  }

  /// BA-187: what was counted of a LocalQueue shows as long as the selector matches it.
  [[nodiscard]] bool hides(const std::string& family, const ClientMetric& metric) const {
    if (!chooses || !family.starts_with("kueue_local_queue_")) return false;
    const auto it = objects.find(object_of(metric, Across::local_queue));
    return it == objects.end() || !it->second.selected;
  }

  [[nodiscard]] std::vector<prometheus::MetricFamily> collect() const {
    std::map<std::string, std::vector<ClientMetric>> shown;
    for (const auto& [name, family] : families)
      for (const auto& [labels, metric] : family.samples)
        if (!hides(name, metric)) shown[name].push_back(metric);
    for (const auto& [name, object] : objects)
      for (const auto& [family, metric] : object.samples)
        if (!hides(family, metric)) shown[family].push_back(metric);
    std::vector<prometheus::MetricFamily> out;
    for (auto& [name, metrics] : shown) {
      std::sort(metrics.begin(), metrics.end(), [](const ClientMetric& a, const ClientMetric& b) { return a.label < b.label; });
      const Family& family = families.at(name);
      out.push_back({name, family.help, family.type, std::move(metrics)});
    }
    return out;
  }
};

MetricsValues::MetricsValues() : families_(std::make_unique<Families>()) {}
MetricsValues::MetricsValues(DomainMetrics domain) : MetricsValues() {
  families_->chooses = domain.chooses;
  for (auto& group : domain.groups) {
    if (group.across == Across::nothing) continue;
    for (auto& family : group.families) families_->take(std::move(family), group.across, domain.presence);
  }
  for (auto& queue : domain.local_queues) {
    auto& object = families_->objects[{Across::local_queue, std::move(queue.namespace_), std::move(queue.name)}];
    object.presence = domain.presence;
    object.selected = queue.selected;
  }
}
MetricsValues::~MetricsValues() = default;
MetricsValues::MetricsValues(MetricsValues&& other) noexcept = default;
MetricsValues& MetricsValues::operator=(MetricsValues&& other) noexcept = default;

void MetricsValues::add(MetricsValues other) { families_->add(std::move(*other.families_)); }

std::string MetricsValues::text() const { return prometheus::TextSerializer().Serialize(families_->collect()); }

}  // namespace hindsight::projections
