#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "admission/model/workload_state.hpp"
#include "vocabulary/amount.hpp"
#include "vocabulary/symbol.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::admission {

/// One pod set of a job, as far as its size goes: how many pods, and what each of them asks for as its template states it. What excludes
/// or transforms resources plays no part: jobs are compared with each other here, and not with quota.
struct PodSetSize {
  Symbol name;
  std::int32_t count = 0;
  std::vector<std::pair<Symbol, Amount>> requests;
  friend bool operator==(const PodSetSize& a, const PodSetSize& b) {
    return a.name == b.name && a.count == b.count && a.requests == b.requests;
  }
};
using PodSetSizes = std::vector<PodSetSize>;

[[nodiscard]] PodSetSizes sizes_of(const std::vector<PodSetSpec>& pod_sets);
/// One pod that asks for as much of each resource as any of these does.
[[nodiscard]] PodSetSizes largest_pod(const PodSetSizes& pod_sets);

/// What all pods of a job ask for together: their number, and their requests.
struct JobSize {
  std::int64_t pods = 0;
  std::vector<std::pair<Symbol, Amount>> requests;  ///< In the order of first appearance; amounts above 0 only.

  [[nodiscard]] static JobSize of(const PodSetSizes& pod_sets);
  /// Of as many pods of each pod set as `granted` has of the same name, at most. A pod set that it does not name counts whole: no slice
  /// will ever have a place for its pods, so nobody makes them who keeps to the gate, and whoever may write pods can take that away.
  [[nodiscard]] static JobSize within(const PodSetSizes& pod_sets, const PodSetSizes& granted);
  /// Fits into nothing.
  [[nodiscard]] static JobSize boundless();
  void add(const JobSize& other);
  void subtract(const JobSize& other);  ///< What was added before.
  [[nodiscard]] Amount amount_of(const Symbol& resource) const;
  void add_pods(const PodSetSize& pod_set, std::int32_t count);
  friend bool operator==(const JobSize& a, const JobSize& b) { return a.pods == b.pods && a.requests == b.requests; }
};

/// How large a job is that claims to be part of another one.
struct ChildSize {
  JobSize whole;
  /// Of one whose pods all wait at a scheduling gate until its owner's slice has a place for them (EJ-70): they count as far as they may
  /// pass it, so a cluster that its autoscaler made larger runs on while its job waits for more quota: the autoscaler changes how many pods
  /// a group has, and adds none. Empty: the whole job counts.
  PodSetSizes gated;
  friend bool operator==(const ChildSize& a, const ChildSize& b) { return a.whole == b.whole && a.gated == b.gated; }
};

/// The jobs that one job made of itself, and how many of them fit into it (BA-171): the API server takes any reference to an owner, so a
/// job counts as part of another one only as long as all that claim to be are together no larger than what that one was granted. The oldest
/// have the room; after the first that does not fit, all are beyond it. So one that was added later takes no room from those that are
/// there, and a change costs no more than it changes.
class JobChildren {
 public:
  /// Who comes first: by time of creation, then uid.
  using Age = std::pair<Time, std::string>;
  /// Children that are beyond the size now (true) and were not, or the other way round; by number.
  using Changes = std::vector<std::pair<std::uint32_t, bool>>;

  JobChildren() = default;
  JobChildren(const JobChildren&) = delete;
  JobChildren& operator=(const JobChildren&) = delete;

  /// What the owner was granted; until it is known nobody is beyond it.
  void set_room(PodSetSizes granted, Changes& changes);
  void put(const Age& age, std::uint32_t child, ChildSize size, Changes& changes);
  void remove(const Age& age, Changes& changes);

 private:
  struct Child {
    std::uint32_t number = 0;
    ChildSize size;
    JobSize counted;      ///< Of those before `beyond_`: what of it is part of `used_`.
    bool beyond = false;  ///< As was told.
  };
  using Children = std::map<Age, Child>;

  [[nodiscard]] bool fits(const JobSize& size) const;
  bool take(Child& child);
  void step_back(Children::iterator to);
  void settle(Changes& changes);
  void tell(Children::iterator from, Children::iterator to, bool beyond, Changes& changes);

  bool room_known_ = false;
  PodSetSizes granted_;
  JobSize room_, used_;  ///< `used_` is the sum of those before `beyond_`.
  Children children_;
  Children::iterator beyond_ = children_.end();  ///< The first that does not fit; the first of all while the room is not known.
};

}  // namespace hindsight::admission
