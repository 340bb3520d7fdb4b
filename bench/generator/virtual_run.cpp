#include "bench/generator/virtual_run.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

#include "admission/domain/loop_driver.hpp"
#include "admission/rules.hpp"
#include "bench/actors/big_domain.hpp"
#include "vocabulary/arena.hpp"

namespace hindsight::bench {

namespace {

const Time origin = Time::from_seconds(1'700'000'000);
constexpr std::string_view space = "default";

class World {
 public:
  World(const Generator& generator, const Pace& pace)
      : generator_(generator),
        arrivals_(arrivals(generator)),
        state_(arrivals_.size()),
        pace_(pace),
        driver_([pace](Text) -> Result<admission::Settings> {
          admission::Settings s;
          s.reactivation_batch = pace.batch;
          s.claim_duration = pace.claim;
          s.admissions_ahead = pace.ahead;
          s.balanced_placement = true;
          return s;
        }) {
    outcome_.waits.resize(generator.classes.size());
    numbers_.reserve(arrivals_.size());
  }

  Outcome run() {
    configure();
    std::size_t next = 0;
    std::size_t ended = 0;
    while (ended < arrivals_.size()) {
      Time t = next < arrivals_.size() ? origin + arrivals_[next].at : Time::never();
      if (!ends_.empty() && (!t.is_set() || ends_.top().at < t)) t = ends_.top().at;
      if (write_ && (!t.is_set() || written_at_ < t)) t = written_at_;
      if (!own_under_way_.empty() && (!t.is_set() || own_under_way_.front().ends < t)) t = own_under_way_.front().ends;
      const Time due = driver_.domain().next_due();
      if (due.is_set() && due > now_ && (!t.is_set() || due < t)) t = due;
      if (!t.is_set()) give_up("nothing is left to happen, but not all Workloads have ended");
      pass_to(t);
      bool told = false;
      for (; !ends_.empty() && ends_.top().at <= now_; ends_.pop()) endings_.push_back(ends_.top());
      while (!own_under_way_.empty() && own_under_way_.front().ends <= now_) {
        carry_out_own();
        told = true;
      }
      while (!write_ || written_at_ <= now_) {
        if (write_) {
          ended += carry_out(*std::exchange(write_, std::nullopt));
          told = true;
        }
        if (!take_next_write()) break;
      }
      for (; next < arrivals_.size() && origin + arrivals_[next].at <= now_; ++next) {
        tell(static_cast<std::uint32_t>(next));
        told = true;
      }
      if (!told) apply(Observation{TimerFired{}});
      decide();
    }
    outcome_.makespan = now_ - origin;
    const double quota = static_cast<double>(generator_.nominal) * static_cast<double>(generator_.queue_count()) *
                         static_cast<double>(outcome_.makespan.micros);
    outcome_.usage = used_ / quota;
    return outcome_;
  }

 private:
  enum class Unwritten : std::uint8_t { nothing, admission, eviction };
  struct Workload {
    std::string name, uid, queue;
    ResourceAmount request, usage;
    FlavorChoice flavor{"cpu", "default-flavor"};
    PodSetAssignmentFacts assignment;
    std::vector<std::string> hosts;  ///< Of the assignment.
    std::vector<Text> values;
    std::vector<TopologyDomainFacts> domains;
    TopologyLayerFacts layer;
    PodSetFacts pod_set;
    WorkloadObserved facts;
    std::uint32_t admissions = 0;
    bool runs = false;
    Unwritten unwritten = Unwritten::nothing;
    Duration wait;
  };
  struct End {
    Time at;
    std::uint32_t workload = 0, admission = 0;
    bool operator<(const End& other) const { return at > other.at; }  // the earliest on top
  };

  /// Of ours.
  struct OwnWrite {
    std::uint32_t workload = 0;
    bool evicts = false;  ///< Else it admits.
    Time ends;
  };
  /// Of the owner.
  struct Write {
    std::uint32_t workload = 0;
    bool evicts = false;  ///< Else it ends.
    std::uint32_t admission = 0;
  };

  [[noreturn]] static void give_up(const std::string& why) {
    std::fprintf(stderr, "error: %s\n", why.c_str());
    std::abort();
  }

  /// As random as the API server's are: the same in every run.
  static std::string uid(std::uint32_t i) {
    const std::uint64_t x = (i + 1) * 0x9E3779B97F4A7C15;
    char text[40];
    std::snprintf(text, sizeof text, "%08x-%04x-4%03x-8%03x-%012llx", static_cast<unsigned>(x >> 32),
                  static_cast<unsigned>(x >> 16 & 0xffff), static_cast<unsigned>(x >> 4 & 0xfff), static_cast<unsigned>(x >> 20 & 0xfff),
                  static_cast<unsigned long long>(i));
    return text;
  }

  void pass_to(Time t) {
    used_ += static_cast<double>(in_use_) * static_cast<double>((t - now_).micros);
    now_ = t;
  }

  void apply(Body body) {
    if (auto ok = driver_.apply(record_after(sequence_++, now_, std::move(body))); !ok) give_up(ok.error().message);
  }

  void configure() {
    apply(EpochStarted{"bench", "bench", admission::rules_version});
    apply(Observation{ConfigurationObserved{"{}"}});  // so that the settings are read
    ResourceFlavorObserved flavor;
    flavor.meta = meta("default-flavor", {});
    const Pair pool{"pool", "all"};
    if (generator_.racks > 0) {
      flavor.node_labels = {&pool, 1};
      flavor.topology_name = "racks";
      TopologyObserved topology;
      topology.meta = meta("racks", {});
      topology.levels = levels_;
      apply(Observation{topology});
    }
    apply(Observation{flavor});
    nodes();
    NamespaceObserved n;
    n.meta = meta(std::string(space), {});
    apply(Observation{n});
    for (std::size_t i = 0; i < generator_.queue_count(); ++i) {
      ClusterQueueObserved q;
      q.meta = meta(queue_name(i), {});
      q.cohort = arena_.copy(cohort_name(generator_, i));
      auto quotas = arena_.make<QuotaFacts>(1);
      quotas[0] = {"cpu", generator_.nominal, generator_.borrowing_limit, {}};
      auto flavors = arena_.make<FlavorQuotasFacts>(1);
      flavors[0] = {"default-flavor", quotas};
      auto resources = arena_.make<Text>(1);
      resources[0] = "cpu";
      auto groups = arena_.make<ResourceGroupFacts>(1);
      groups[0] = {resources, flavors};
      q.resource_groups = groups;
      q.has_namespace_selector = true;
      q.within_cluster_queue = PreemptionPolicy::lower_priority;
      q.reclaim_within_cohort = PreemptionPolicy::any;
      apply(Observation{q});
      LocalQueueObserved local;
      local.meta = meta(queue_name(i), space);
      local.cluster_queue = q.meta.name;
      apply(Observation{local});
    }
    apply(Observation{MirrorSynced{}});
    if (pace_.own.micros > 0) apply(Observation{WriteLimitObserved{Pace::own_writes}});
  }

  void nodes() {
    for (std::size_t i = 0; i < generator_.racks * generator_.hosts_in_rack; ++i) {
      NodeObserved node;
      node.meta = meta("host-" + std::to_string(1'000 + i), {});
      const std::string rack = "rack-" + std::to_string(i / generator_.hosts_in_rack);
      const Pair labels[] = {{"block", "block-0"}, {levels_[2], node.meta.name}, {"pool", "all"}, {"rack", rack}};
      const ResourceAmount allocatable[] = {{"cpu", 96'000}, {"pods", 110}};
      node.labels = labels;
      node.allocatable = allocatable;
      node.ready = true;
      apply(Observation{node});
    }
  }

  ObjectMeta meta(const std::string& name, std::string_view namespace_) {
    ObjectMeta m;
    m.name = arena_.copy(name);
    m.uid = arena_.copy("uid-" + name + "-" + std::string(namespace_));
    m.namespace_ = namespace_;
    m.resource_version = ++version_;
    m.generation = 1;
    m.created = origin;
    return m;
  }

  void tell(std::uint32_t i) {
    const Arrival& a = arrivals_[i];
    const WorkloadClass& c = generator_.classes[a.kind];
    Workload& w = state_[i];
    w.name = workload_name(generator_, a);
    w.uid = uid(i);
    w.queue = queue_name(a.queue);
    w.request = {"cpu", c.cpu / c.pods};
    w.usage = {"cpu", c.cpu};
    w.pod_set.name = "main";
    w.pod_set.count = c.pods;
    if (generator_.racks > 0) {
      (a.number % 3 == 0 ? w.pod_set.required_topology : w.pod_set.preferred_topology) = levels_[1];
      w.pod_set.topology_requested = true;
      w.layer = {levels_[2], c.slice};
      if (a.number % 3 == 2) w.pod_set.topology_layers = {&w.layer, 1};
    }
    w.pod_set.requests = {&w.request, 1};
    w.pod_set.shape_hash = w.pod_set.template_hash = w.pod_set.core_hash = 7 + a.kind + (generator_.racks > 0 ? 100 * (a.number % 3) : 0);
    w.facts.meta.namespace_ = space;
    w.facts.meta.name = w.name;
    w.facts.meta.uid = w.uid;
    w.facts.meta.generation = 1;
    w.facts.meta.created = Time::from_seconds(now_.micros / 1'000'000);
    w.facts.queue_name = w.queue;
    w.facts.priority = c.priority;
    w.facts.pod_sets = {&w.pod_set, 1};
    numbers_.emplace(w.uid, i);
    observe(w, {});
  }

  void observe(Workload& w, std::span<const ConditionFacts> conditions) {
    w.facts.meta.resource_version = ++version_;
    w.facts.conditions = conditions;
    apply(Observation{w.facts});
  }

  void finish(std::uint32_t i) {
    Workload& w = state_[i];
    stop(i);
    outcome_.waits[arrivals_[i].kind].add(w.wait);
    const ConditionFacts done{ConditionType::finished, ConditionStatus::true_, "Succeeded", "the run time is over", now_};
    observe(w, {&done, 1});
    ObjectDeleted gone;
    gone.kind = ObjectKind::workload;
    gone.namespace_ = space;
    gone.name = w.name;
    gone.uid = w.uid;
    apply(Observation{gone});
  }

  void start(std::uint32_t i) {
    Workload& w = state_[i];
    const WorkloadClass& c = generator_.classes[arrivals_[i].kind];
    w.runs = true;
    in_use_ += c.cpu;
    ends_.push({now_ + c.runs, i, ++w.admissions});
    w.wait = now_ - (origin + arrivals_[i].at);
  }

  /// One writer: what is evicted goes first, and of that nothing ends.
  [[nodiscard]] bool take_next_write() {
    while (!endings_.empty() && state_[endings_.front().workload].admissions != endings_.front().admission) endings_.pop_front();
    if (!evicting_.empty()) {
      write_ = {evicting_.front(), true};
      evicting_.pop_front();
    } else if (!endings_.empty()) {
      write_ = {endings_.front().workload, false, endings_.front().admission};
      endings_.pop_front();
    } else {
      return false;
    }
    written_at_ = now_ + pace_.write;
    return true;
  }

  /// Returns how many have ended by that.
  [[nodiscard]] std::size_t carry_out(const Write& w) {
    if (w.evicts) {
      complete_eviction(w.workload);
    } else if (state_[w.workload].admissions == w.admission) {  // else evicted since
      finish(w.workload);
      return 1;
    }
    return 0;
  }

  /// An eviction takes the place of an admission that was not written yet.
  void begin_own_writes() {
    while (own_under_way_.size() < Pace::own_writes) {
      auto& from = evictions_.empty() ? admissions_ : evictions_;
      if (from.empty()) return;
      const std::uint32_t i = from.front();
      const bool evicts = &from == &evictions_;
      from.pop_front();
      if (!evicts && state_[i].unwritten != Unwritten::admission) continue;
      own_under_way_.push_back({i, evicts, now_ + pace_.own});
    }
  }

  void carry_out_own() {
    const OwnWrite w = own_under_way_.front();
    own_under_way_.pop_front();
    Unwritten& unwritten = state_[w.workload].unwritten;
    if (w.evicts) {
      unwritten = Unwritten::nothing;
      begin_eviction(w.workload);
    } else if (std::exchange(unwritten, unwritten == Unwritten::admission ? Unwritten::nothing : unwritten) == Unwritten::admission) {
      start(w.workload);
      echo(w.workload, false);
    }
    begin_own_writes();
  }

  void stop(std::uint32_t i) {
    if (!state_[i].runs) return;
    state_[i].runs = false;
    in_use_ -= generator_.classes[arrivals_[i].kind].cpu;
  }

  /// What the decision wants has been written: the reservation, and whether it is being evicted.
  void echo(std::uint32_t i, bool evicted) {
    Workload& w = state_[i];
    w.facts.has_admission = true;
    w.facts.admission_cluster_queue = w.queue;
    w.assignment = {"main", w.pod_set.count, {&w.flavor, 1}, {&w.usage, 1}};
    if (!w.domains.empty()) {
      w.assignment.topology_levels = {&levels_[2], 1};
      w.assignment.topology = w.domains;
    }
    w.facts.assignments = {&w.assignment, 1};
    std::array<ConditionFacts, 4> conditions{{
        {ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved", "", now_},
        {ConditionType::admitted, ConditionStatus::true_, "Admitted", "", now_},
        {ConditionType::evicted, ConditionStatus::true_, "Preempted", "", now_},
        {ConditionType::preempted, ConditionStatus::true_, "InClusterQueue", "", now_},
    }};
    observe(w, std::span(conditions).first(evicted ? 4 : 2));
  }

  void begin_eviction(std::uint32_t i) {
    stop(i);
    ++state_[i].admissions;
    ++outcome_.evictions;
    echo(i, true);
    if (pace_.write.micros == 0)
      complete_eviction(i);
    else
      evicting_.push_back(i);
  }

  /// Whoever made a Workload that no Job owns completes its eviction: the reservation goes.
  void complete_eviction(std::uint32_t i) {
    Workload& w = state_[i];
    w.facts.has_admission = false;
    w.facts.assignments = {};
    w.facts.admission_cluster_queue = {};
    const std::array<ConditionFacts, 4> conditions{{
        {ConditionType::quota_reserved, ConditionStatus::false_, "Pending", "", now_},
        {ConditionType::admitted, ConditionStatus::false_, "NoReservation", "", now_},
        {ConditionType::evicted, ConditionStatus::true_, "Preempted", "", now_},
        {ConditionType::preempted, ConditionStatus::true_, "InClusterQueue", "", now_},
    }};
    observe(w, conditions);
  }

  void decide() {
    while (auto step = driver_.decide()) {
      apply(Decisions{step->base, step->kind, step->events});
      reserved_.clear();
      evicted_.clear();
      for (const Event& e : step->events) {
        if (const auto* r = std::get_if<QuotaReserved>(&e)) {
          reserved_.push_back(number_of(r->workload));
          remember_places(state_[reserved_.back()], r->assignments);
        }
        if (const auto* p = std::get_if<WorkloadPreempted>(&e)) evicted_.push_back(number_of(p->workload));
      }
      for (const auto i : reserved_) {
        if (pace_.own.micros > 0) {
          state_[i].unwritten = Unwritten::admission;
          admissions_.push_back(i);
        } else {
          start(i);
          echo(i, false);
        }
      }
      for (const auto i : evicted_) {
        if (pace_.own.micros > 0) {
          state_[i].unwritten = Unwritten::eviction;
          evictions_.push_back(i);
        } else {
          begin_eviction(i);
        }
      }
      begin_own_writes();
    }
  }

  static void remember_places(Workload& w, List<PodSetAssignmentFacts> assignments) {
    w.hosts.clear();
    w.values.clear();
    w.domains.clear();
    for (const auto& d : assignments[0].topology) {
      w.hosts.emplace_back(d.values[0]);
      w.domains.push_back({{}, d.count});
    }
    for (const auto& host : w.hosts) w.values.emplace_back(host);
    for (std::size_t i = 0; i < w.domains.size(); ++i) w.domains[i].values = {&w.values[i], 1};
  }

  std::uint32_t number_of(const WorkloadRef& w) const { return numbers_.find(w.uid)->second; }

  const Text levels_[3] = {"block", "rack", "kubernetes.io/hostname"};
  const Generator& generator_;
  const std::vector<Arrival> arrivals_;
  std::vector<Workload> state_;
  const Pace pace_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;  ///< By uid.
  admission::LoopDriver driver_;
  Arena arena_;
  std::priority_queue<End> ends_;
  std::deque<End> endings_;  ///< Their time has come.
  std::deque<std::uint32_t> evicting_;
  std::deque<OwnWrite> own_under_way_;                ///< In the order in which they end.
  std::deque<std::uint32_t> admissions_, evictions_;  ///< That we write next.
  std::optional<Write> write_;                        ///< That the owner is at,
  Time written_at_;                                   ///< until then.
  std::vector<std::uint32_t> reserved_, evicted_;     ///< By the step that was just applied.
  Outcome outcome_;
  Time now_ = origin;
  std::uint64_t sequence_ = 0, version_ = 0;
  Amount in_use_ = 0;
  double used_ = 0;  ///< Milli-cpu × microseconds.
};

}  // namespace

Outcome virtual_run(const Generator& generator, const Pace& pace) { return World(generator, pace).run(); }

}  // namespace hindsight::bench
