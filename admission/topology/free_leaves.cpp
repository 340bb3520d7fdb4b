#include "admission/topology/free_leaves.hpp"

#include <algorithm>

namespace hindsight::admission::topology {

void FreeLeaves::touch(DomainIndex leaf) {
  if (kept_.empty()) return;
  if (!changed_.empty() && changed_.back() == leaf && forgotten_ + changed_.size() > read_) return;
  if (changed_.size() > capacity_.leaves() / 4 + 64) {  // to count all anew costs less than to follow so many
    forgotten_ += changed_.size();
    changed_.clear();
  }
  changed_.push_back(leaf);
}

void FreeLeaves::follow(Kept& kept, const TopologyTree& tree, const LeafRules& rules) const {
  if (kept.seen < forgotten_)
    kept.offers.count_all(tree, capacity_, rules);
  else
    kept.offers.follow(tree, capacity_, rules, std::span(changed_).subspan(kept.seen - forgotten_));
}

const Offers& FreeLeaves::offers(const TopologyTree& tree, const Question& question, const std::shared_ptr<const LeafFilter>& workers,
                                 const std::shared_ptr<const LeafFilter>& leader, std::span<const std::uint8_t> absent) {
  const LeafRules rules{workers->excluded, leader->excluded, workers->scores, absent};
  const std::uint64_t now = forgotten_ + changed_.size();
  ++questions_;
  for (const auto& kept : kept_) {
    if (kept->workers != workers || kept->offers.question() != question || (question.leader && kept->leader != leader)) continue;
    follow(*kept, tree, rules);
    kept->seen = read_ = now;
    kept->asked = questions_;
    return kept->offers;
  }
  const std::size_t room = std::clamp(leaves_kept / std::max<std::size_t>(tree.leaves(), 1), questions_min, questions_max);
  if (kept_.size() < room) {
    kept_.push_back(std::make_unique<Kept>(Kept{Offers(tree, question), workers, leader, now, questions_}));
  } else {
    const auto oldest = std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) { return a->asked < b->asked; });
    **oldest = Kept{Offers(tree, question), workers, leader, now, questions_};
    std::swap(*oldest, kept_.back());
  }
  read_ = now;
  Offers& out = kept_.back()->offers;
  out.count_all(tree, capacity_, rules);
  return out;
}

}  // namespace hindsight::admission::topology
