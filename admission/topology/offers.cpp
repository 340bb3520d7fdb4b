#include "admission/topology/offers.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace hindsight::admission::topology {
namespace {

/// Adds up the domains below one.
class Sum {
 public:
  Sum(const Question& question, std::size_t level, DomainIndex d)
      : question_(question), level_(level), rounded_(question.rounded[level + 1]) {
    out_.domain = d;
  }

  void add(const DomainOffer& c) {
    std::int32_t pods = c.pods, pods_l = c.pods_l;
    if (rounded_ != 0) {
      pods -= pods % rounded_;
      pods_l -= pods_l % rounded_;
    }
    out_.pods = sum_of_pods(out_.pods, pods);
    out_.slices = sum_of_pods(out_.slices, c.slices);
    out_.score += c.score;
    out_.lead = std::max(out_.lead, c.lead);
    if (question_.leader && c.lead == 0) return;
    least_pods_ = std::min(least_pods_, pods - pods_l);
    least_slices_ = std::min(least_slices_, c.slices - c.slices_l);
    any_ = true;
  }

  [[nodiscard]] DomainOffer done() {
    out_.pods_l = any_ ? out_.pods - least_pods_ : 0;
    out_.slices_l = any_ ? out_.slices - least_slices_ : 0;
    if (level_ == question_.slice_level) {
      out_.slices = out_.pods / question_.slice_size;
      out_.slices_l = out_.pods_l / question_.slice_size;
    }
    return out_;
  }

 private:
  const Question& question_;
  std::size_t level_;
  std::int32_t rounded_;
  DomainOffer out_;
  std::int32_t least_pods_ = unlimited_pods, least_slices_ = unlimited_pods;
  bool any_ = false;
};

}  // namespace

Offers::Offers(const TopologyTree& tree, Question question)
    : question_(std::move(question)), lowest_(tree.lowest()), above_(tree.lowest()) {
  const std::size_t leaves = tree.leaves();
  pods_.resize(leaves);
  if (question_.leader) {
    pods_l_.resize(leaves);
    lead_.resize(leaves);
  }
  for (std::size_t level = 0; level < lowest_; ++level) above_[level].resize(tree.size(level));
  begin(false);
}

std::vector<DomainOffers> Offers::all() const {
  std::vector<DomainOffers> out = above_;
  DomainOffers& leaves = out.emplace_back();
  leaves.resize(pods_.size());
  each(lowest_, [&](const DomainOffer& e) { leaves[e.domain] = e; });
  return out;
}

std::optional<DomainIndex> Offers::tightest_leaf(std::int32_t need) const {
  // Two passes without a branch in the loops cost a tenth of one that remembers the leaf: which leaves suffice cannot be predicted.
  constexpr std::size_t lanes = 8;
  std::array<std::int32_t, lanes> least;
  least.fill(unlimited_pods);
  const auto see = [need](std::int32_t& out, std::int32_t n) { out = n >= need && n < out ? n : out; };
  std::size_t i = 0;
  for (; i + lanes <= pods_.size(); i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) see(least[lane], pods_[i + lane]);
  for (; i < pods_.size(); ++i) see(least[0], pods_[i]);
  const auto it = std::find(pods_.begin(), pods_.end(), *std::min_element(least.begin(), least.end()));
  if (it == pods_.end()) return {};
  return static_cast<DomainIndex>(it - pods_.begin());
}

// ---- leaves (§3.3) ------------------------------------------------------------------------------------------------------------------

std::vector<Offers::Need> Offers::needs_of(const Capacity& free, const PodRequest& request, const PodRequest* leader) {
  std::vector<Need> out;
  for (const auto& [resource, amount] : request) {
    if (amount == 0) continue;
    Amount taken = 0;
    if (leader != nullptr)
      for (const auto& [r, a] : *leader)
        if (r == resource) taken = a;
    out.push_back({free.column(resource), amount, taken, out.size()});
  }
  // Whole ones need no division, and once they have limited the pods, the others seldom do.
  std::stable_partition(out.begin(), out.end(), [](const Need& n) { return n.amount == 1; });
  return out;
}

Offers::Needs Offers::needs_in(const Capacity& free) const {
  Needs out;
  out.pods = needs_of(free, question_.request, nullptr);
  if (!question_.leader) return out;
  out.beside_leader = needs_of(free, question_.request, &*question_.leader);
  out.leader = needs_of(free, *question_.leader, nullptr);
  return out;
}

std::int32_t Offers::fits(const std::vector<Need>& needs, DomainIndex leaf) {
  Amount out = unlimited_pods;
  for (const Need& need : needs) {
    const Amount has = need.has(leaf);
    if (need.amount == 1) {
      out = std::min(out, has);
    } else if (Amount all = 0; __builtin_mul_overflow(need.amount, out, &all) || has < all) {  // a product costs less than a division
      out = has / need.amount;
    }
    if (out <= 0) return 0;
  }
  return static_cast<std::int32_t>(out);
}

void Offers::limit(std::span<Amount> pods, const Need& need, DomainIndex first) {
  if (need.column == nullptr) return std::fill(pods.begin(), pods.end(), 0);
  const Amount* has = need.column + first;
  if (need.amount == 1) {
    for (std::size_t i = 0; i < pods.size(); ++i) pods[i] = std::clamp<Amount>(has[i], 0, pods[i]);
  } else if (need.amount <= std::numeric_limits<Amount>::max() / unlimited_pods) {  // no product overflows
    for (std::size_t i = 0; i < pods.size(); ++i)
      if (need.amount * pods[i] > has[i]) pods[i] = std::max<Amount>(has[i], 0) / need.amount;
  } else {
    for (std::size_t i = 0; i < pods.size(); ++i) pods[i] = std::clamp<Amount>(has[i] / need.amount, 0, pods[i]);
  }
}

std::size_t Offers::lack(const std::vector<Need>& needs, DomainIndex leaf) {
  std::size_t out = needs.size();
  for (const Need& need : needs)
    if (need.has(leaf) < need.amount) out = std::min(out, need.position);
  return out;
}

void Offers::count_leaf(const Needs& needs, const LeafRules& rules, DomainIndex leaf, Tally& tally) {
  const auto is_set = [leaf](std::span<const std::uint8_t> flags) { return !flags.empty() && flags[leaf] != 0; };
  pods_[leaf] = absent;
  if (!scores_.empty()) scores_[leaf] = 0;
  if (question_.leader) {
    pods_l_[leaf] = 0;
    lead_[leaf] = 0;
  }
  if (is_set(rules.absent)) return;
  ++tally.present;
  const bool out = is_set(rules.excluded);
  pods_[leaf] = excluded;
  if (!out) {
    const std::int32_t in_sum = fits(needs.pods, leaf);
    pods_[leaf] = in_sum;
    if (rules.hosts != nullptr && in_sum > 0)
      pods_[leaf] = std::min(in_sum, rules.hosts->pods_on(leaf, question_.request, rules.excluded_hosts));
    if (pods_[leaf] == 0) {
      const std::size_t lacks = in_sum == 0 ? lack(needs.pods, leaf) : rules.hosts->lack(leaf, question_.request, rules.excluded_hosts);
      pods_[leaf] = no_room - static_cast<std::int32_t>(lacks);
      ++tally.lacking[lacks];
    }
    if (!scores_.empty()) scores_[leaf] = rules.scores[leaf];
  }
  if (!question_.leader) return;
  pods_l_[leaf] = std::max(pods_[leaf], 0);
  if (is_set(rules.excluded_for_leader) || fits(needs.leader, leaf) == 0) return;
  std::int32_t on_hosts = unlimited_pods;
  if (rules.hosts != nullptr)
    on_hosts = rules.hosts->pods_beside(leaf, question_.request, rules.excluded_hosts, *question_.leader, rules.excluded_hosts_for_leader);
  if (on_hosts < 0) return;
  lead_[leaf] = 1;
  if (!out) pods_l_[leaf] = std::min(fits(needs.beside_leader, leaf), on_hosts);
}

void Offers::forget_leaf(DomainIndex leaf) {
  if (pods_[leaf] == absent) return;
  --tally_.present;
  if (pods_[leaf] <= no_room) --tally_.lacking[static_cast<std::size_t>(no_room - pods_[leaf])];
}

void Offers::begin(bool scored) {
  scores_.resize(scored ? pods_.size() : 0);
  const auto asked = std::count_if(question_.request.begin(), question_.request.end(), [](const auto& r) { return r.second != 0; });
  tally_.present = 0;
  tally_.lacking.assign(static_cast<std::size_t>(asked), 0);
}

Offers::Tally Offers::count(const Capacity& free, const LeafRules& leaves, DomainIndex first, DomainIndex last) {
  const Needs needs = needs_in(free);
  Tally out;
  out.lacking.resize(tally_.lacking.size());
  if (question_.leader || !scores_.empty() || !leaves.absent.empty() || !leaves.excluded.empty() || leaves.hosts != nullptr) {
    for (DomainIndex leaf = first; leaf < last; ++leaf) count_leaf(needs, leaves, leaf, out);
    return out;
  }
  out.present = static_cast<std::int32_t>(last - first);
  constexpr DomainIndex block = 512;  // that stay in the nearest cache while one resource is looked at after another
  std::array<Amount, block> fit;
  for (DomainIndex from = first; from < last; from += block) {
    const std::span room(fit.data(), std::min(block, last - from));
    std::fill(room.begin(), room.end(), unlimited_pods);
    for (const Need& need : needs.pods) limit(room, need, from);
    for (std::size_t i = 0; i < room.size(); ++i) {
      const DomainIndex leaf = from + static_cast<DomainIndex>(i);
      pods_[leaf] = static_cast<std::int32_t>(room[i]);
      if (room[i] != 0) continue;
      const std::size_t lacks = lack(needs.pods, leaf);
      pods_[leaf] = no_room - static_cast<std::int32_t>(lacks);
      ++out.lacking[lacks];
    }
  }
  return out;
}

void Offers::add(const Tally& part) {
  tally_.present += part.present;
  for (std::size_t i = 0; i < part.lacking.size(); ++i) tally_.lacking[i] += part.lacking[i];
}

// ---- sums (§3.4) --------------------------------------------------------------------------------------------------------------------

DomainOffer Offers::sum_of_plain_leaves(TopologyTree::Range leaves, std::size_t level, DomainIndex d) const {
  std::int64_t pods = 0, slices = 0;
  const std::int32_t rounded = question_.rounded[level + 1];
  const auto pods_on = [this](DomainIndex i) { return std::max(pods_[i], 0); };
  for (DomainIndex i = leaves.first; i < leaves.last; ++i) pods += rounded == 0 ? pods_on(i) : pods_on(i) - pods_on(i) % rounded;
  if (question_.slice_level == lowest_) {
    if (question_.slice_size == 1 && rounded == 0)
      slices = pods;
    else
      for (DomainIndex i = leaves.first; i < leaves.last; ++i) slices += pods_on(i) / question_.slice_size;
  }
  const auto clamped = [](std::int64_t n) { return static_cast<std::int32_t>(std::min<std::int64_t>(n, unlimited_pods)); };
  DomainOffer out;
  out.domain = d;
  out.pods = out.pods_l = clamped(pods);
  out.slices = out.slices_l = level == question_.slice_level ? out.pods / question_.slice_size : clamped(slices);
  return out;
}

DomainOffer Offers::sum_of(const TopologyTree& tree, std::size_t level, DomainIndex d) const {
  const auto below = tree.children(level, d);
  if (level + 1 == lowest_ && is_plain()) return sum_of_plain_leaves(below, level, d);
  Sum sum(question_, level, d);
  for (DomainIndex i = below.first; i < below.last; ++i) sum.add(at(level + 1, i));
  return sum.done();
}

void Offers::sum_up(const TopologyTree& tree) {
  for (std::size_t level = lowest_; level-- > 0;)
    for (DomainIndex d = 0; d < above_[level].size(); ++d) above_[level][d] = sum_of(tree, level, d);
}

void Offers::count_all(const TopologyTree& tree, const Capacity& free, const LeafRules& leaves) {
  begin(!leaves.scores.empty());
  add(count(free, leaves, 0, static_cast<DomainIndex>(pods_.size())));
  sum_up(tree);
}

// ---- what changed -------------------------------------------------------------------------------------------------------------------

void Offers::follow(const TopologyTree& tree, const Capacity& free, const LeafRules& leaves, std::span<const DomainIndex> changed) {
  if (changed.empty()) return;
  std::vector<DomainIndex> domains(changed.begin(), changed.end());
  std::sort(domains.begin(), domains.end());
  domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
  const Needs needs = needs_in(free);
  for (const DomainIndex leaf : domains) {
    forget_leaf(leaf);
    count_leaf(needs, leaves, leaf, tally_);
  }
  for (std::size_t level = lowest_; level-- > 0;) {
    for (DomainIndex& d : domains) d = tree.parent(level + 1, d);
    domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
    for (const DomainIndex d : domains) above_[level][d] = sum_of(tree, level, d);
  }
}

void roll_up(const TopologyTree& tree, std::vector<DomainOffers>& offers, std::size_t level, DomainIndex d, const Question& question) {
  Sum sum(question, level, d);
  const auto below = tree.children(level, d);
  for (DomainIndex i = below.first; i < below.last; ++i) sum.add(offers[level + 1][i]);
  offers[level][d] = sum.done();
}

}  // namespace hindsight::admission::topology
