#include "admission/model/slices.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace hindsight::admission {

bool is_live(const WorkloadState& w) { return !w.finished() && !w.deleting && !w.removal_pending; }

bool is_slice(const WorkloadState& w) { return w.option_of().empty(); }

bool is_superseded(const WorkloadState& w) {
  static const Symbol replaced("WorkloadSliceReplaced");
  static const Symbol out_of_sync("OutOfSync");
  const Condition* c = w.find(ConditionType::finished);
  if (c == nullptr || !c->is_true()) return false;
  return c->reason == replaced || (w.elastic && c->reason == out_of_sync);
}

bool names(const WorkloadState& slice, const WorkloadState& other) {
  const std::string_view key = slice.replacement_for;
  const std::string_view space = other.namespace_.text();
  return slice.namespace_ == other.namespace_ && key.size() == space.size() + 1 + other.name.size() && key.starts_with(space) &&
         key[space.size()] == '/' && key.ends_with(other.name);
}

std::string_view chain_name(const WorkloadState& slice) {
  return slice.slice_name.empty() ? std::string_view(slice.name) : slice.slice_name.view();
}

bool earlier(const WorkloadState& a, const WorkloadState& b) { return a.created != b.created ? a.created < b.created : a.uid < b.uid; }

namespace {

class ChainBuilder {
 public:
  explicit ChainBuilder(const std::vector<WorkloadState>& workloads) : w_(workloads) {
    for (std::size_t i = 0; i < w_.size(); ++i)
      if (is_live(w_[i]) && is_slice(w_[i])) live_.push_back(i);
    if (live_.size() > 1) std::sort(live_.begin(), live_.end(), [&](std::size_t a, std::size_t b) { return earlier(w_[a], w_[b]); });
    if (live_.size() <= few) return;
    for (const std::size_t i : live_)
      if (!w_[i].replacement_for.empty()) by_target_.emplace(w_[i].replacement_for, i);
  }

  SliceChain build() {
    find_holder();
    if (out_.holder != SliceChain::none) {
      find_pending();
      out_.current = out_.pending != SliceChain::none ? out_.pending : out_.holder;
    } else {
      out_.current = survivor();
    }
    for (const std::size_t i : live_) {
      if (i == out_.holder || i == out_.pending || i == out_.current) continue;
      const bool replaced = (out_.current != SliceChain::none && names(w_[out_.current], w_[i])) ||
                            (out_.holder != SliceChain::none && names(w_[out_.holder], w_[i]));
      out_.ends.push_back({i, replaced});
    }
    return std::move(out_);
  }

 private:
  /// A job has two slices. Of thousands, which anybody can make, those that name one are looked up.
  static constexpr std::size_t few = 8;

  /// Does another one say that it replaces `i`, of those that `counts` says yes to?
  template <class F>
  [[nodiscard]] bool is_named(std::size_t i, F&& counts) const {
    const auto does = [&](std::size_t other) { return other != i && counts(other) && names(w_[other], w_[i]); };
    if (live_.size() <= few) return std::any_of(live_.begin(), live_.end(), does);
    const std::string key = std::string(w_[i].namespace_.text()) + '/' + w_[i].name;
    const auto [begin, end] = by_target_.equal_range(key);
    return std::any_of(begin, end, [&](const auto& entry) { return does(entry.second); });
  }

  /// It holds quota, and not only as one who waits for its checks to replace another (EJ-45).
  [[nodiscard]] bool stands(std::size_t i) const {
    if (!w_[i].reserved()) return false;
    if (w_[i].admitted()) return true;
    return std::none_of(live_.begin(), live_.end(),
                        [&](std::size_t other) { return other != i && w_[other].reserved() && names(w_[i], w_[other]); });
  }

  void find_holder() {
    for (const std::size_t i : live_) {
      if (!stands(i)) continue;
      if (!is_named(i, [&](std::size_t other) { return stands(other); })) out_.holder = i;
    }
  }

  /// EJ-26: of two that claim the same place the one that holds quota, else the older one.
  void find_pending() {
    for (const std::size_t i : live_) {
      if (i == out_.holder || stands(i) || !names(w_[i], w_[out_.holder])) continue;
      if (out_.pending == SliceChain::none || (w_[i].reserved() && !w_[out_.pending].reserved())) out_.pending = i;
    }
  }

  /// Nothing holds quota: what is left of the chain after an eviction (EJ-84 to EJ-91). The evicted slice gives way to its replacement,
  /// unless one of the two is inactive: then the job stays inactive, or stays of its old size. Of several that were all evicted none is
  /// left.
  [[nodiscard]] std::size_t survivor() const {
    if (live_.empty()) return SliceChain::none;
    if (live_.size() == 1) return live_.front();
    std::size_t left = SliceChain::none;
    for (const std::size_t i : live_)
      if (is_named(i, [](std::size_t) { return true; })) left = i;
    if (left != SliceChain::none && !w_[left].active) return left;
    bool inactive = false;
    for (const std::size_t i : live_) {
      if (left != SliceChain::none && !names(w_[i], w_[left])) continue;
      if (w_[i].active && !w_[i].evicted()) return i;
      inactive = inactive || !w_[i].active;
    }
    return inactive ? (left != SliceChain::none ? left : live_.back()) : SliceChain::none;
  }

  const std::vector<WorkloadState>& w_;
  std::vector<std::size_t> live_;
  std::multimap<std::string_view, std::size_t> by_target_;  ///< What each says that it replaces.
  SliceChain out_;
};

}  // namespace

SliceChain slice_chain(const std::vector<WorkloadState>& workloads) { return ChainBuilder(workloads).build(); }

std::vector<std::size_t> forgotten_slices(const std::vector<WorkloadState>& workloads, std::size_t limit) {
  std::vector<std::size_t> out;
  if (workloads.size() <= limit) return out;
  for (std::size_t i = 0; i < workloads.size(); ++i)
    if (is_slice(workloads[i]) && is_superseded(workloads[i]) && !workloads[i].deleting && !workloads[i].removal_pending) out.push_back(i);
  if (out.size() <= limit) return {};
  std::sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) { return earlier(workloads[a], workloads[b]); });
  out.resize(out.size() - limit);
  std::erase_if(out, [&](std::size_t i) {
    return std::any_of(workloads.begin(), workloads.end(), [&](const WorkloadState& w) { return is_live(w) && names(w, workloads[i]); });
  });
  return out;
}

}  // namespace hindsight::admission
