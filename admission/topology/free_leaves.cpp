#include "admission/topology/free_leaves.hpp"

#include <algorithm>

#include "admission/topology/placement.hpp"

namespace hindsight::admission::topology {

void FreeLeaves::touch(DomainIndex leaf) {
  if (kept_.empty() || last_change_[leaf] == asks_) return;
  if (changed_.size() > capacity_.leaves() / 4 + 64) {  // to count all anew costs less than to follow so many
    // Who has asked last most likely asks next, so that what it has not followed stays while anything else can go.
    const auto followed = static_cast<std::ptrdiff_t>(read_ > forgotten_ ? read_ - forgotten_ : changed_.size());
    changed_.erase(changed_.begin(), changed_.begin() + followed);
    forgotten_ += static_cast<std::uint64_t>(followed);
  }
  last_change_[leaf] = asks_;
  changed_.push_back(leaf);
}

void FreeLeaves::note_read(Kept& kept) {
  kept.seen = read_ = forgotten_ + changed_.size();
  kept.asked = ++questions_;
  if (last_change_.empty()) last_change_.resize(capacity_.leaves());
  if (++asks_ != 0) return;
  std::fill(last_change_.begin(), last_change_.end(), 0);
  asks_ = 1;
}

std::pair<std::int32_t, Symbol> FreeLeaves::pods_on(DomainIndex leaf, const PodRequest& request, const LeafFilter& filter) const {
  const auto in_sum = topology::pods_on(capacity_, request, leaf);
  if (!hosts_ || in_sum.first == 0) return in_sum;
  const std::int32_t on_hosts = hosts_->pods_on(leaf, request, filter.excluded_hosts);
  if (on_hosts >= in_sum.first) return in_sum;
  const std::size_t lacks = hosts_->lack(leaf, request, filter.excluded_hosts);
  std::size_t position = 0;
  for (const auto& [resource, amount] : request)
    if (amount != 0 && position++ == lacks) return {on_hosts, resource};
  return {on_hosts, {}};
}

void FreeLeaves::follow(Kept& kept, const TopologyTree& tree, const LeafRules& rules) const {
  if (kept.seen < forgotten_)
    kept.offers.count_all(tree, capacity_, rules);
  else
    kept.offers.follow(tree, capacity_, rules, std::span(changed_).subspan(kept.seen - forgotten_));
}

FreeLeaves::Kept* FreeLeaves::find(const Question& question, const std::shared_ptr<const LeafFilter>& workers,
                                   const std::shared_ptr<const LeafFilter>& leader) const {
  for (const auto& kept : kept_)
    if (kept->workers == workers && kept->offers.question() == question && (!question.leader || kept->leader == leader)) return kept.get();
  return nullptr;
}

std::size_t FreeLeaves::questions_kept(std::size_t leaves) {
  return std::clamp(leaves_kept / std::max<std::size_t>(leaves, 1), questions_min, questions_max);
}

FreeLeaves::Kept& FreeLeaves::insert(Kept kept, std::size_t leaves) {
  if (kept_.size() < questions_kept(leaves)) return *kept_.emplace_back(std::make_unique<Kept>(std::move(kept)));
  const auto oldest = std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) { return a->asked < b->asked; });
  **oldest = std::move(kept);
  return **oldest;
}

const Offers& FreeLeaves::offers(const TopologyTree& tree, const Question& question, const std::shared_ptr<const LeafFilter>& workers,
                                 const std::shared_ptr<const LeafFilter>& leader, std::span<const std::uint8_t> absent) {
  const LeafRules rules = this->rules(*workers, *leader, absent);
  Kept* kept = find(question, workers, leader);
  if (kept != nullptr) {
    follow(*kept, tree, rules);
  } else {
    kept = &insert({Offers(tree, question), workers, leader, 0, 0}, tree.leaves());
    kept->offers.count_all(tree, capacity_, rules);
  }
  note_read(*kept);
  return kept->offers;
}

// ---- in parts -----------------------------------------------------------------------------------------------------------------------

std::shared_ptr<FirstCount> FreeLeaves::first_count(const TopologyTree& tree, const Question& question,
                                                    const std::shared_ptr<const LeafFilter>& workers,
                                                    const std::shared_ptr<const LeafFilter>& leader,
                                                    std::span<const std::uint8_t> absent) const {
  if (find(question, workers, leader) != nullptr) return nullptr;
  std::shared_ptr<FirstCount> out(new FirstCount(tree, capacity_, question));
  out->workers_ = workers;
  out->leader_ = leader;
  out->rules_ = rules(*workers, *leader, absent);
  return out;
}

void FirstCount::divide(std::size_t parts) {
  offers_.emplace(tree_, question_);
  offers_->begin(!rules_.scores.empty());
  tallies_.resize(parts);
}

void FirstCount::count(std::size_t number) {
  const std::size_t of = tallies_.size();
  tallies_[number] = offers_->count(free_, rules_, static_cast<DomainIndex>(leaves() * number / of),
                                    static_cast<DomainIndex>(leaves() * (number + 1) / of));
}

void FreeLeaves::keep(FirstCount&& counted) {
  for (const auto& part : counted.tallies_) counted.offers_->add(part);
  counted.offers_->sum_up(counted.tree_);
  note_read(insert({std::move(*counted.offers_), std::move(counted.workers_), std::move(counted.leader_), 0, 0}, counted.leaves()));
}

}  // namespace hindsight::admission::topology
