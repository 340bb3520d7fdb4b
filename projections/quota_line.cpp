#include "projections/quota_line.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "admission/domain/domain.hpp"
#include "projections/why.hpp"

namespace hindsight::projections {
namespace {

/// What those who were looked at have taken of what is available to a queue.
class TakenInLine {
 public:
  TakenInLine(const StateView& state, const Symbol& queue)
      : state_(state), queue_(queue), config_(state.domain().catalog()->queue(queue)) {}

  /// Takes what one asks for; false, and nothing is taken, where that is not there.
  bool take(const admission::WorkloadInfo& w) {
    if (config_ == nullptr || !uncovered_resources(state_, w, queue_).empty()) return false;
    auto after = taken_;
    const auto trials = try_flavors(state_, w, queue_);
    for (const auto& pod_set : *w.pod_sets)
      for (const auto& group : config_->groups)
        if (!take_group(pod_set, group, trials, after)) return false;
    taken_ = std::move(after);
    return true;
  }

 private:
  using Pair = std::pair<Symbol, Symbol>;
  struct PairByText {
    bool operator()(const Pair& a, const Pair& b) const {
      return a.first != b.first ? ByText{}(a.first, b.first) : ByText{}(a.second, b.second);
    }
  };
  using Taken = std::map<Pair, Amount, PairByText>;

  /// One flavor for all resources of a group.
  static bool take_group(const admission::PodSetInfo& pod_set, const admission::ResourceGroup& group,
                         const std::vector<FlavorTrial>& trials, Taken& taken) {
    bool asks = false;
    for (const auto& flavor : group.flavors) {
      std::vector<const FlavorTrial*> mine;
      for (const auto& t : trials)
        if (t.pod_set == pod_set.name.text() && t.flavor == flavor.flavor &&
            std::find(group.resources.begin(), group.resources.end(), t.resource) != group.resources.end())
          mine.push_back(&t);
      asks = asks || !mine.empty();
      const bool fits = !mine.empty() && std::all_of(mine.begin(), mine.end(), [&](const FlavorTrial* t) {
        const auto it = taken.find({t->flavor, t->resource});
        const Amount before = it == taken.end() ? 0 : it->second;
        return t->mismatch.empty() && (t->requested <= 0 || add(before, t->requested) <= t->quota.figures.available);
      });
      if (!fits) continue;
      for (const auto* t : mine) {
        Amount& sum = taken.try_emplace({t->flavor, t->resource}, Amount{0}).first->second;
        sum = add(sum, std::max<Amount>(0, t->requested));
      }
      return true;
    }
    return !asks;
  }

  const StateView& state_;
  const Symbol& queue_;
  const admission::QueueConfig* config_;
  Taken taken_;
};

}  // namespace

std::optional<std::size_t> quota_ends_after(const StateView& state, const Symbol& cluster_queue, const std::vector<InLine>& line,
                                            std::size_t most) {
  TakenInLine taken(state, cluster_queue);
  for (std::size_t i = 0; i < std::min(line.size(), most); ++i)
    if (!taken.take(*line[i].waiting.workload)) return i;
  return std::nullopt;
}

}  // namespace hindsight::projections
