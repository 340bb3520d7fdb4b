// Folds a log record by record and checks after each one what must hold at every moment: no quota is exceeded, and what a queue counts is
// what its Workloads hold; a job that runs holds quota; and whenever pods of an elastic job were released, no more of them run than their
// slice was granted; whoever gets places on hosts finds room there; of a family one Option is admitted, and what is kept for a migration is in
// use. Prints the first violation and exits with 1. BA-36, BA-41, BA-46, BA-131, EJ-69, CA-43, CA-59, CA-131
//
// usage: log_invariants LOG [DOMAIN]

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "admission/queue/cohort_tree.hpp"
#include "admission/workload/workload_parent.hpp"
#include "projections/topologies.hpp"
#include "replay/moment.hpp"
#include "replay/past.hpp"
#include "runtime/log_location.hpp"
#include "tests/explorer/holdings.hpp"

using namespace hindsight;

namespace {

/// May the record leave a tree with less quota than is in use? Only one that changes the tree, or belongs to a change of which not all is
/// there yet.
bool rearranges_trees(const RecordView& record, const admission::StateView& state) {
  if (!state.domain().synced()) return true;
  const auto* o = std::get_if<Observation>(&record.body);
  if (o == nullptr) return false;
  const auto* gone = std::get_if<ObjectDeleted>(o);
  return std::holds_alternative<ClusterQueueObserved>(*o) || std::holds_alternative<CohortObserved>(*o) ||
         std::holds_alternative<MirrorSynced>(*o) ||
         (gone != nullptr && (gone->kind == ObjectKind::cluster_queue || gone->kind == ObjectKind::cohort));
}

std::map<std::string, Amount> over_quota;  // queue/flavor/resource → by how much usage exceeds what there is

bool holds(const admission::StateView& state, std::uint64_t offset, bool rearranges) {
  const auto& catalog = *state.domain().catalog();
  std::map<std::pair<std::string, std::string>, Amount> held;  // queue, flavor/resource → sum over Workloads
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* p = state.parent(i);
    if (p == nullptr) continue;
    int admitted = 0;
    const auto hold = [&](Symbol queue, Symbol flavor, Symbol resource, Amount amount) {
      held[{std::string(queue.text()), std::string(flavor.text()) + "/" + std::string(resource.text())}] += amount;
    };
    for (const auto& w : p->workloads()) {
      if (w.family && w.family->hold)
        for (const auto& [cell, amount] : explorer::kept_for_migration(*p, w))
          hold(w.family->hold->cluster_queue, cell.first, cell.second, amount);
      if (!explorer::holds_quota(*p, w, catalog)) continue;
      admitted += explorer::part_of(*p, w) != explorer::Part::option || w.admitted() ? 1 : 0;  // Options may race for their checks (CA-40)
      const auto reservation = admission::make_reservation(w, nullptr);  // less what its pods gave back
      for (const auto& charge : reservation->charges) hold(w.admission->cluster_queue, charge.flavor, charge.resource, charge.amount);
    }
    if (admitted > 1) {
      std::printf("record %llu: a job holds quota twice\n", static_cast<unsigned long long>(offset));
      return false;
    }
  }
  for (const auto& [name, config] : catalog.queues) {
    const auto* tree = state.tree(catalog.root_of(name));
    if (tree == nullptr || tree->quota() == nullptr) continue;
    for (const auto& group : config->groups)
      for (const auto& flavor : group.flavors)
        for (const Symbol& resource : group.resources) {
          const auto f = tree->quota()->queue_figures(name, flavor.flavor, resource);
          const std::string cell = std::string(flavor.flavor.text()) + "/" + std::string(resource.text());
          const Amount sum = held[{std::string(name.text()), cell}];
          if (f.usage != sum) {
            std::printf("record %llu: %s %s: usage %lld, its Workloads hold %lld\n", static_cast<unsigned long long>(offset),
                        std::string(name.text()).c_str(), cell.c_str(), static_cast<long long>(f.usage), static_cast<long long>(sum));
            return false;
          }
          // A queue that gets another cohort brings along what it borrowed, and leaves what it lent.
          const Amount over = std::max({f.usage - f.potential, -f.available, Amount{0}});
          const Amount before = std::exchange(over_quota[std::string(name.text()) + "/" + cell], over);
          if (over > before && !rearranges) {
            std::printf("record %llu: %s %s: usage %lld, potential %lld, available %lld\n", static_cast<unsigned long long>(offset),
                        std::string(name.text()).c_str(), cell.c_str(), static_cast<long long>(f.usage),
                        static_cast<long long>(f.potential), static_cast<long long>(f.available));
            return false;
          }
        }
  }
  return true;
}

/// Pods that run or were told to, of each pod set of a job whose pods this record releases.
bool stays_in_its_slice(const RecordView& record, const admission::StateView& state, std::uint64_t offset) {
  const auto* decisions = std::get_if<Decisions>(&record.body);
  if (decisions == nullptr) return true;
  for (const auto& event : decisions->events) {
    const auto* released = std::get_if<PodsReleased>(&event);
    if (released == nullptr) continue;
    const auto index = state.domain().find_parent(released->job.uid);
    const auto* parent = index ? state.parent(*index) : nullptr;
    if (parent == nullptr) continue;
    for (const auto& w : parent->workloads()) {
      if (w.uid != released->workload.uid || !w.admission) continue;
      for (const auto& granted : w.admission->pod_sets) {
        const auto running = std::count_if(parent->pods().begin(), parent->pods().end(), [&](const admission::PodState& pod) {
          return pod.pod_set == granted.pod_set && !pod.ended && (!pod.gated || pod.released);
        });
        if (running <= granted.count) continue;
        std::printf("record %llu: slice %s was granted %d pods, %lld run or were released\n", static_cast<unsigned long long>(offset),
                    w.name.text().c_str(), granted.count, static_cast<long long>(running));
        return false;
      }
    }
  }
  return true;
}

/// Whenever somebody gets places on hosts, there is room for them.
bool stands_where_there_is_room(const RecordView& record, const admission::StateView& state, std::uint64_t offset) {
  const auto* decisions = std::get_if<Decisions>(&record.body);
  if (decisions == nullptr) return true;
  std::set<std::string> hosts;
  const auto add = [&](List<PodSetAssignmentFacts> assignments) {
    for (const auto& a : assignments)
      for (const auto& d : a.topology) hosts.emplace(d.values[d.values.size() - 1]);
  };
  for (const auto& event : decisions->events) {
    if (const auto* e = std::get_if<QuotaReserved>(&event)) add(e->assignments);
    if (const auto* e = std::get_if<TopologyReassigned>(&event)) add(e->assignments);
    if (const auto* e = std::get_if<TopologyAssigned>(&event)) add(e->assignments);
  }
  if (hosts.empty()) return true;
  const auto shares = projections::node_shares(state);
  for (const auto& host : hosts) {
    const auto share = shares.find(host);
    if (share == shares.end()) continue;  // its node went between the decision and its record
    for (const auto& [resource, all] : share->second.allocatable) {
      const Amount free = resource == "pods" ? share->second.free(resource) - share->second.pods : share->second.free(resource);
      if (free >= 0) continue;
      std::printf("record %llu: host %s has %lld of %s, and %lld less than its pods take\n", static_cast<unsigned long long>(offset),
                  host.c_str(), static_cast<long long>(all), resource.c_str(), static_cast<long long>(-free));
      return false;
    }
  }
  return true;
}

/// A job that is seen to run holds quota; nobody but us starts those of the tests. Where a log or a domain begins, and where a tree moves,
/// a job is told before its Workloads.
bool runs_on_quota(const RecordView& record, const admission::StateView& state, std::uint64_t offset) {
  if (!state.domain().synced()) return true;
  const auto* o = std::get_if<Observation>(&record.body);
  const auto* job = o == nullptr ? nullptr : std::get_if<JobObserved>(o);
  if (job == nullptr || job->suspended || job->stopping || job->finished || job->meta.deleting) return true;
  const auto index = state.domain().find_parent(job->meta.uid);
  const auto* parent = index ? state.parent(*index) : nullptr;
  if (parent == nullptr || !parent->job() || parent->job()->suspended) return true;  // it was told late
  const auto& workloads = parent->workloads();
  if (std::any_of(workloads.begin(), workloads.end(), [](const auto& w) { return w.reserved(); })) return true;
  std::printf("record %llu: job %s was started and holds no quota\n", static_cast<unsigned long long>(offset),
              std::string(job->meta.name).c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  auto log = runtime::open_log(argv[1], {.read_only = true});
  if (!log) return std::printf("%s\n", log.error().message.c_str()), 1;
  auto domain = replay::choose_domain(**log, argc == 3 ? argv[2] : "");
  if (!domain) return std::printf("%s\n", domain.error().message.c_str()), 1;
  replay::Past past(**log, *domain, {.use_snapshots = false, .progress = {}});
  bool good = true;
  std::uint64_t records = 0;
  past.look_on({}, [&](replay::Position offset, const RecordView& record) {
    ++records;
    good = good && holds(past.driver(), offset, rearranges_trees(record, past.driver())) &&
           stays_in_its_slice(record, past.driver(), offset) && stands_where_there_is_room(record, past.driver(), offset) &&
           runs_on_quota(record, past.driver(), offset);
  });
  const auto last = (*log)->last();
  if (!last) return std::printf("%s\n", last.error().message.c_str()), 1;
  if (auto ok = past.go_to(*last); !ok) return std::printf("%s\n", ok.error().message.c_str()), 1;
  if (records == 0) return std::printf("%s: no record of domain %s was looked at\n", argv[1], domain->c_str()), 1;
  if (good) std::printf("%llu records: no quota exceeded, every sum right\n", static_cast<unsigned long long>(records));
  return good ? 0 : 1;
}
