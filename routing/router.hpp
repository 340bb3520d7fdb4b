#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "routing/objects.hpp"
#include "routing/trees.hpp"
#include "vocabulary/observations.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::routing {

/// An object that belongs to another domain than before.
struct Move {
  ObjectKey object;
  Symbol from, to;
};

/// Where an observation goes, and what else has to move because of it.
struct Route {
  bool everywhere = false;
  Symbol domain;  ///< Unless everywhere; empty: to none, because what it is about was never seen.
  /// Objects that were in a domain and are in another one now; the observed one may be among them.
  std::vector<Move> moves;
};

/// Says which admission domain of a cluster each object belongs to.
///
/// Queues and cohorts belong to their tree (trees.hpp). What hangs together as one parent, a job with its Workloads and pods, belongs
/// to the tree that it holds quota of, else to the tree of the queue that it names; jobs that are owned by a queued job go with that one.
/// So a job that moves to another queue while it runs stays where its quota is counted until it has given it back. What names no known
/// queue is in a domain of its own, where it gets its conditions. Everything that any queue may need is everywhere.
///
/// All that it knows follows from the newest observations of the objects that there are, in whatever order they came.
class Router {
 public:
  /// The domains are named after the cluster, which has none of their names in common with other clusters.
  explicit Router(std::string cluster) : cluster_(std::move(cluster)) {}

  /// While the first lists are incomplete no home lasts, and nothing has one before `settle`.
  [[nodiscard]] Route observe(const Observation& o);
  /// All lists are complete: from now on everything has a home.
  void settle();
  [[nodiscard]] bool settled() const { return settled_; }

  /// The domain of what names no queue that is known.
  [[nodiscard]] Symbol homeless() const { return Symbol(cluster_ + "/unassigned"); }
  /// Is this the name of a domain of the cluster?
  [[nodiscard]] bool owns(std::string_view domain) const { return domain.starts_with(cluster_ + "/"); }
  /// Where the object belongs; empty: it was never seen, or is gone. By uid where it has one, else by name.
  [[nodiscard]] Symbol home(const ObjectKey& object) const;
  [[nodiscard]] Symbol home_of_uid(std::string_view uid) const;
  /// Where a node is told: with the tree that selects it.
  [[nodiscard]] Symbol home_of_node(const NodeObserved& node) const { return domain_of(trees_.that_selects(node)); }
  /// Where it is told that the object was set aside: where it belongs, as far as that is known.
  [[nodiscard]] Symbol place_of_quarantine(const ObjectKey& object) const;
  [[nodiscard]] const Trees& trees() const { return trees_; }

 private:
  using LocalQueueKey = std::pair<std::string, std::string>;
  using Moves = std::vector<Move>;
  /// Name of a LocalQueue → keys of the families whose home follows from it.
  using ByQueue = std::map<LocalQueueKey, std::set<std::string_view>>;
  struct LocalQueue {
    std::string cluster_queue;
    Symbol home;
  };
  struct JobFacts {
    std::string namespace_, name, queue_name, owner_uid;
    Symbol home;
  };
  struct WorkloadFacts {
    std::string namespace_, name, queue_name;
    std::string holds;  ///< The ClusterQueue whose quota it holds; empty: none.
    Symbol home;
  };
  struct PodFacts {
    std::string namespace_, name;
    Symbol home;
  };
  /// A job with its Workloads and pods, or a Workload without a job: what one parent of admission/ stands for.
  struct Family {
    std::optional<JobFacts> job;
    std::map<std::string, WorkloadFacts, std::less<>> workloads;  ///< By uid.
    std::map<std::string, PodFacts, std::less<>> pods;            ///< By uid.
    Symbol home;
    ByQueue::value_type* by_queue = nullptr;  ///< Whose name its home follows from, whether there is such a LocalQueue or not.
    [[nodiscard]] bool empty() const { return !job && workloads.empty() && pods.empty(); }
  };

  Symbol see(const ClusterQueueObserved& o, Moves& moves);
  Symbol see(const CohortObserved& o, Moves& moves);
  Symbol see(const LocalQueueObserved& o, Moves& moves);
  Symbol see(const JobObserved& o, Moves& moves);
  Symbol see(const WorkloadObserved& o, Moves& moves);
  Symbol see(const PodObserved& o, Moves& moves);
  Symbol see(const ObjectDeleted& o, Moves& moves);
  Symbol see(const ObjectQuarantined& o, Moves& moves);
  Symbol forget_member(std::string_view uid, Moves& moves);
  [[nodiscard]] std::optional<std::string> family_of_parent(std::string_view uid, std::string_view namespace_) const;
  void take_early_options(const std::string& parent, const std::string& key);
  [[nodiscard]] bool is_near(std::string_view key, std::string_view namespace_) const;
  void disown(const std::string& key, Moves& moves);

  void rehome_all(Moves& moves);
  void rehome_families(Moves& moves);
  void rehome_families_of(const LocalQueueKey& queue, Moves& moves);
  void rehome_family(std::string_view key, Moves& moves);
  /// Where something belongs, and the name of the LocalQueue that says so; none: its quota does, or it names no queue.
  struct Place {
    Symbol home;
    std::optional<LocalQueueKey> by_queue;
  };
  // `key` is the one in families_, so that it lives as long as the family.
  void rehome(const std::string& key, Family& family, const Place& place, Moves& moves);
  static void rehome(Symbol& home, Symbol now, const ObjectKey& object, Moves& moves);
  void set_owner(const std::string& key, JobFacts& job, std::string_view owner);
  void drop_if_empty(const std::string& key);
  void follow_queue(const std::string& key, Family& family, const std::optional<LocalQueueKey>& queue);
  [[nodiscard]] Symbol domain_of(std::string_view tree) const;
  [[nodiscard]] Place place_for(std::string_view key) const;
  [[nodiscard]] Place place_for(const Family& family) const;
  [[nodiscard]] Place place_by_queue(std::string_view namespace_, std::string_view queue_name) const;

  const std::string cluster_;
  bool settled_ = false;
  Trees trees_;
  std::map<std::string, Symbol, std::less<>> queues_, cohorts_;  ///< Name → home.
  std::map<LocalQueueKey, LocalQueue> local_queues_;
  std::map<std::string, Family, std::less<>> families_;              ///< By uid of the job, or of the Workload that none owns.
  std::map<std::string, std::string, std::less<>> family_of_;        ///< Uid of a job, Workload or pod → key of its family.
  std::map<std::string, std::set<std::string>, std::less<>> owned_;  ///< Uid of an owner → keys of the families of jobs that it owns.
  ByQueue by_queue_;
};

}  // namespace hindsight::routing
