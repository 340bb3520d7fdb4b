// A million names that tenants choose come and go: jobs, their queues, classes, pod sets, resources and labels, LocalQueues, Workloads,
// pods. Neither names in memory nor entries of tables nor the memory itself grow with them.
//
//   HINDSIGHT_SOAK_ROUNDS=N   rounds of nine names each (111,112; 20,000 under AddressSanitizer)

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>

#include "admission/domain/loop_driver.hpp"
#include "admission/rules.hpp"
#include "events/record.hpp"
#include "projections/metrics.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::hostile {
namespace {

class Soak {
 public:
  Soak() : driver_([](Text) -> Result<admission::Settings> { return admission::Settings(); }), metrics_(projections::MetricsOptions{}) {
    observe(EpochStarted{"test", "test", admission::rules_version}, 1);
    ResourceFlavorObserved flavor;
    flavor.meta.name = "any";
    observe(Observation{flavor});
    NamespaceObserved space;
    space.meta.name = "ns";
    observe(Observation{space});
    ClusterQueueObserved queue;
    queue.meta.name = "cq";
    std::array<QuotaFacts, 1> quotas{{{"cpu", 4'000, {}, {}}}};
    std::array<FlavorQuotasFacts, 1> flavors{{{"any", quotas}}};
    std::array<Text, 1> resources{"cpu"};
    std::array<ResourceGroupFacts, 1> groups{{{resources, flavors}}};
    queue.resource_groups = groups;
    queue.has_namespace_selector = true;
    observe(Observation{queue});
    observe(Observation{MirrorSynced{}});
    settle();
  }

  /// A tenant makes one of everything, under names that nobody used before, and takes it away again.
  void round(std::uint64_t n) {
    now_ = now_ + Duration::millis(100);
    const std::string tail = "-" + std::to_string(n);
    const std::string lq = "lq" + tail, job_uid = "job-uid" + tail, workload_uid = "workload-uid" + tail, pod_uid = "pod-uid" + tail;
    const std::string pod_set = "set" + tail, resource = "example.com/r" + tail, key = "key" + tail, class_ = "class" + tail;
    const std::string job_name = "job" + tail;
    LocalQueueObserved local;
    local.meta = meta(lq, "lq-uid" + tail);
    local.cluster_queue = "cq";
    observe(Observation{local});

    std::array<ResourceAmount, 2> requests{{{"cpu", 1'000}, {resource, n % 3 == 0 ? 1 : 0}}};
    std::array<Pair, 1> selector{{{key, "v"}}};
    std::array<PodSetFacts, 1> pods;
    pods[0].name = pod_set;
    pods[0].count = 1;
    pods[0].requests = n % 2 == 0 ? List<ResourceAmount>(requests) : List<ResourceAmount>(requests).first(1);
    pods[0].node_selector = selector;
    pods[0].shape_hash = pods[0].template_hash = pods[0].core_hash = n + 1;
    JobObserved job;
    job.meta = meta(job_name, job_uid);
    job.kind = "Job";
    job.group = "batch";
    job.queue_name = n % 5 == 0 ? Text(class_) : Text(lq);
    job.pod_priority_class = class_;
    job.suspended = true;
    job.workload_name = job_name;
    job.pod_sets = pods;
    job.owner_uid = n % 4 == 0 ? Text(key) : Text();
    observe(Observation{job});
    settle();

    WorkloadObserved workload;
    workload.meta = meta(job_name, workload_uid);
    workload.owner_uid = n % 7 == 0 ? Text(resource) : Text(job_uid);
    workload.queue_name = job.queue_name;
    workload.priority_class_kind = PriorityClassKind::pod_priority_class;
    workload.priority_class = class_;
    workload.pod_sets = pods;
    observe(Observation{workload});
    settle();

    PodObserved pod;
    pod.meta = meta("pod" + tail, pod_uid);
    pod.owner_uid = n % 3 == 0 ? Text(key) : Text(job_uid);
    pod.pod_set = pod_set;
    pod.gated = true;
    observe(Observation{pod});
    pod.meta.resource_version = ++version_;
    pod.owner_uid = job_uid;  // changed
    observe(Observation{pod});
    settle();

    remove(ObjectKind::pod, "pod" + tail, pod_uid);
    remove(ObjectKind::workload, job_name, workload_uid);
    remove(ObjectKind::job, job_name, job_uid);
    remove(ObjectKind::local_queue, lq, "lq-uid" + tail);
    settle();
    texts_.clear();
    if (driver_.domain().next_due().is_set() && driver_.domain().next_due() <= now_) {
      observe(Observation{TimerFired{}});
      settle();
    }
    (void)driver_.collect_intents();
  }

  [[nodiscard]] std::size_t entries() const { return driver_.domain().entries() + driver_.queue(Symbol("cq"))->entries(); }
  [[nodiscard]] std::size_t series() const {
    const std::string text = metrics_.text(driver_);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

 private:
  ObjectMeta meta(const std::string& name, const std::string& uid) {
    texts_.push_back(std::make_unique<std::string>(name));
    texts_.push_back(std::make_unique<std::string>(uid));
    ObjectMeta out;
    out.namespace_ = "ns";
    out.name = *texts_[texts_.size() - 2];
    out.uid = *texts_.back();
    out.resource_version = ++version_;
    out.generation = 1;
    out.created = Time::from_seconds(now_.floor_seconds());
    return out;
  }
  void remove(ObjectKind kind, const std::string& name, const std::string& uid) {
    observe(Observation{ObjectDeleted{kind, "ns", name, uid}});
  }
  template <class B>
  void observe(B body, std::uint64_t epoch = 0) {
    RecordView r;
    r.envelope = {"default", driver_.domain().sequence() + 1, epoch == 0 ? driver_.domain().epoch() : epoch, now_, 0};
    r.body = Body{std::move(body)};
    apply(r);
  }
  void settle() {
    while (const auto step = driver_.decide()) {
      RecordView r;
      r.envelope = {"default", driver_.domain().sequence() + 1, driver_.domain().epoch(), now_, step->base};
      r.body = Body{Decisions{step->base, step->kind, step->events}};
      apply(r);
    }
  }
  void apply(const RecordView& r) {
    if (const auto ok = driver_.apply(r); !ok) throw std::runtime_error(ok.error().message);
    metrics_.record(r, driver_);
  }

  admission::LoopDriver driver_;
  projections::Metrics metrics_;
  Time now_ = Time::from_seconds(1'767'225'600);
  std::uint64_t version_ = 0;
  std::vector<std::unique_ptr<std::string>> texts_;
};

TEST(NamesSoak, AMillionNamesLeaveNothingBehind) {
  const char* wanted = std::getenv("HINDSIGHT_SOAK_ROUNDS");
  const std::uint64_t rounds = wanted == nullptr ? as_much_as<std::uint64_t>(111'112, 20'000) : std::stoull(wanted);
  Soak soak;
  std::uint64_t n = 0;
  for (; n < rounds / 4; ++n) soak.round(n);
  const std::size_t names = Symbol::known(), entries = soak.entries(), series = soak.series();
  const std::size_t memory = mallinfo2().uordblks;
  for (; n < rounds; ++n) soak.round(n);
  EXPECT_LT(Symbol::known(), std::max<std::size_t>(names + 2'000, 40'000));
  EXPECT_LE(soak.entries(), entries + 10);
  EXPECT_LE(soak.series(), series + 10);
  if (memory != 0) {  // sanitizers count none
    EXPECT_LT(mallinfo2().uordblks, memory + (8U << 20U)) << "was " << memory;
  }
}

}  // namespace
}  // namespace hindsight::hostile
