#include "bench/actors/big_domain.hpp"

namespace hindsight::bench {

namespace {

const Time long_ago = Time::from_seconds(1'700'000'000);

std::string padded(std::size_t n) {
  std::string digits = std::to_string(n);
  return std::string(6 - std::min<std::size_t>(6, digits.size()), '0') + digits;
}

}  // namespace

RecordView record_after(std::uint64_t sequence, Time time, Body body) {
  RecordView r;
  r.envelope.domain = "default";
  r.envelope.sequence = sequence + 1;
  r.envelope.epoch = 1;
  r.envelope.time = time;
  r.body = std::move(body);
  return r;
}

BigDomain::BigDomain(const Shape& shape) : shape_(shape) {
  const auto meta = [&](const std::string& name, std::string_view namespace_ = {}) {
    ObjectMeta m;
    m.name = arena_.copy(name);
    m.uid = arena_.copy("uid-" + name);
    m.namespace_ = namespace_;
    m.resource_version = 1;
    m.created = long_ago;
    return m;
  };
  configuration_.emplace_back(ConfigurationObserved{shape.fair_sharing ? "fair" : "plain"});
  ResourceFlavorObserved flavor;
  flavor.meta = meta("default-flavor");
  configuration_.emplace_back(flavor);
  NamespaceObserved space;
  space.meta = meta("default");
  configuration_.emplace_back(space);

  const std::size_t in_queue = (shape.workloads + shape.queues - 1) / shape.queues;
  for (std::size_t i = 0; i < shape.queues; ++i) {
    ClusterQueueObserved q;
    q.meta = meta("queue-" + padded(i));
    q.cohort = arena_.copy("cohort-" + std::to_string(i % shape.cohorts));
    const bool lends = shape.borrowing && (i / shape.cohorts) % 2 == 0;
    const bool borrows = shape.borrowing && !lends;
    const auto wanted = static_cast<Amount>(in_queue) * 1'000;
    q.resource_groups = groups(lends ? 2 * wanted : borrows ? 0 : wanted);
    q.has_namespace_selector = true;
    q.within_cluster_queue = PreemptionPolicy::lower_priority;
    q.reclaim_within_cohort = PreemptionPolicy::lower_priority;
    configuration_.emplace_back(q);
    LocalQueueObserved local;
    local.meta = meta("local-" + padded(i), "default");
    local.cluster_queue = q.meta.name;
    configuration_.emplace_back(local);
  }
  configuration_.emplace_back(MirrorSynced{});
}

List<ResourceGroupFacts> BigDomain::groups(Amount nominal) {
  auto quotas = arena_.make<QuotaFacts>(1);
  quotas[0] = {"cpu", nominal, {}, {}};
  auto flavors = arena_.make<FlavorQuotasFacts>(1);
  flavors[0] = {"default-flavor", quotas};
  auto resources = arena_.make<Text>(1);
  resources[0] = "cpu";
  auto out = arena_.make<ResourceGroupFacts>(1);
  out[0] = {resources, flavors};
  return out;
}

List<ResourceGroupFacts> BigDomain::without_quota() { return groups(0); }

Observation BigDomain::workload(std::size_t i) {
  name_ = "workload-" + padded(i);
  uid_ = "6ba7b810-9dad-11d1-80b4-00c04f" + padded(i);
  queue_ = "local-" + padded(i % shape_.queues);
  request_ = {"cpu", 1'000};
  pod_set_ = {};
  pod_set_.name = "main";
  pod_set_.count = 1;
  pod_set_.requests = {&request_, 1};
  pod_set_.shape_hash = pod_set_.template_hash = pod_set_.core_hash = 7;
  WorkloadObserved w;
  w.meta.namespace_ = "default";
  w.meta.name = name_;
  w.meta.uid = uid_;
  w.meta.resource_version = 1'000 + i;
  w.meta.generation = 1;
  w.meta.created = long_ago + Duration::millis(static_cast<std::int64_t>(i));
  w.queue_name = queue_;
  w.pod_sets = {&pod_set_, 1};
  w.priority = static_cast<std::int32_t>(i / shape_.queues % 3);
  return w;
}

admission::Domain::SettingsReader BigDomain::settings_reader() const {
  return [](Text json) -> Result<admission::Settings> {
    admission::Settings s;
    s.fair_sharing = json == "fair";
    return s;
  };
}

}  // namespace hindsight::bench
