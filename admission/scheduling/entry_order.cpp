#include "admission/scheduling/entry_order.hpp"

#include <algorithm>
#include <cassert>

namespace hindsight::admission {

EntryOrder::EntryOrder(QuotaTree& tree, const Settings& settings, std::span<const CycleEntry> entries)
    : tree_(tree), table_(tree.table()), settings_(settings), entries_(entries) {
  if (!settings_.fair_sharing) {
    sort();
    return;
  }
  next_of_queue_.assign(entries_.size(), none);
  bids_.resize(table_.nodes().size());
  contenders_.resize(table_.nodes().size());
  for (std::uint32_t i = 0; i < entries_.size(); ++i) queue_up(i);
  const auto behind = [this](NodeIndex a, NodeIndex b) { return contest(bids_[b], bids_[a]).ahead; };
  for (auto n = static_cast<NodeIndex>(bids_.size()); n-- > 0;) {  // children before parents
    auto& heap = contenders_[n];
    if (!heap.empty()) {
      std::make_heap(heap.begin(), heap.end(), behind);
      bids_[n].entry = bids_[heap.front()].entry;
    }
    make_bid(n);
    if (bids_[n].entry != none && table_.has_parent(n)) contenders_[table_.parent(n)].push_back(n);
  }
}

/// Entries of one queue wait for each other, in the order of equal shares.
void EntryOrder::queue_up(std::uint32_t entry) {
  std::uint32_t* at = &bids_[entries_[entry].queue].entry;
  while (*at != none && equal_shares(entries_[*at], entries_[entry]).ahead) at = &next_of_queue_[*at];
  next_of_queue_[entry] = *at;
  *at = entry;
}

EntryOrder::Lead EntryOrder::equal_shares(const CycleEntry& a, const CycleEntry& b) const {
  if (settings_.priority_sorting_within_cohort && a.workload->priority != b.workload->priority) {
    return {a.workload->priority > b.workload->priority, OrderedBy::priority};
  }
  if (a.workload->queue_time != b.workload->queue_time) return {a.workload->queue_time < b.workload->queue_time, OrderedBy::time};
  if (a.queue != b.queue) return {tree_.name(a.queue).text() < tree_.name(b.queue).text(), OrderedBy::queue};  // D1
  return {a.workload->uid < b.workload->uid, OrderedBy::uid};
}

EntryOrder::Lead EntryOrder::classical(const CycleEntry& a, const CycleEntry& b) const {
  if (a.preemptor != b.preemptor) return {a.preemptor, OrderedBy::preemptor};
  const std::int32_t a_level = a.assignment.level;
  const std::int32_t b_level = b.assignment.level;
  if (a_level != b_level) return {a_level < b_level, OrderedBy::level};
  return equal_shares(a, b);
}

void EntryOrder::sort() {
  sorted_.resize(entries_.size());
  for (std::uint32_t i = 0; i < sorted_.size(); ++i) sorted_[i] = i;
  std::sort(sorted_.begin(), sorted_.end(), [this](std::uint32_t a, std::uint32_t b) { return classical(entries_[a], entries_[b]).ahead; });
}

EntryOrder::Lead EntryOrder::contest(const Bid& a, const Bid& b) const {
  if (entries_[a.entry].preemptor != entries_[b.entry].preemptor) return {entries_[a.entry].preemptor, OrderedBy::preemptor};
  if (settings_.fair_sharing_prioritize_non_borrowing && a.borrows != b.borrows) return {b.borrows, OrderedBy::borrowing};
  const auto order = compare(a.share, b.share);
  if (order != 0) return {order < 0, OrderedBy::share};
  return equal_shares(entries_[a.entry], entries_[b.entry]);
}

void EntryOrder::make_bid(NodeIndex n) {
  Bid& bid = bids_[n];
  if (bid.entry == none || !table_.has_parent(n)) return;
  const CycleEntry& e = entries_[bid.entry];
  const QuotaTable::Mark mark = table_.mark();
  table_.add(e.queue, e.assignment.usage);
  bid.share = share_of(tree_, n);
  bid.borrows = bid.share.borrowing && borrows_on(table_, n, e.assignment.usage);
  table_.rollback(mark);
}

/// Takes out the entry that was handed out last. Only the nodes above its queue have other usage or another winner now, and each of
/// them was the winner among its siblings.
void EntryOrder::replace_winner() {
  const auto behind = [this](NodeIndex a, NodeIndex b) { return contest(bids_[b], bids_[a]).ahead; };
  for (NodeIndex n = changed_; table_.has_parent(n); n = table_.parent(n)) {
    auto& heap = contenders_[table_.parent(n)];
    std::pop_heap(heap.begin(), heap.end(), behind);
    assert(heap.back() == n);
    heap.pop_back();
  }
  bids_[changed_].entry = next_of_queue_[bids_[changed_].entry];
  for (NodeIndex n = changed_; n != no_node; n = table_.parent(n)) {
    if (n != changed_) bids_[n].entry = contenders_[n].empty() ? none : bids_[contenders_[n].front()].entry;
    make_bid(n);
    if (bids_[n].entry == none || !table_.has_parent(n)) continue;
    auto& heap = contenders_[table_.parent(n)];
    heap.push_back(n);
    std::push_heap(heap.begin(), heap.end(), behind);
  }
}

std::optional<std::size_t> EntryOrder::next() {
  if (!settings_.fair_sharing) {
    if (done_ == sorted_.size()) return std::nullopt;
    return sorted_[done_++];
  }
  if (changed_ != no_node) replace_winner();
  for (NodeIndex root = 0; root < bids_.size(); root = table_.node(root).end) {
    if (bids_[root].entry == none) continue;
    changed_ = entries_[bids_[root].entry].queue;
    return bids_[root].entry;
  }
  changed_ = no_node;
  return std::nullopt;
}

EntryStanding EntryOrder::standing() const {
  EntryStanding out;
  if (!settings_.fair_sharing) {
    if (done_ == 0 || done_ == sorted_.size()) return out;
    out.next_entry = entries_[sorted_[done_]].traced;
    // What was processed has given its workload away; the one that is handed out has not.
    out.by = classical(entries_[sorted_[done_ - 1]], entries_[sorted_[done_]]).by;
    return out;
  }
  if (changed_ == no_node) return out;
  for (NodeIndex n = changed_; table_.has_parent(n); n = table_.parent(n)) {
    const auto& heap = contenders_[table_.parent(n)];
    EntryStanding::Round round{n, bids_[n].share, bids_[n].borrows, heap.size() - 1, no_node, none, {}, OrderedBy::nothing};
    // The second best of a heap is one of the two below the top.
    for (std::size_t i = 1; i < std::min<std::size_t>(heap.size(), 3); ++i)
      if (round.next_node == no_node || contest(bids_[heap[i]], bids_[round.next_node]).ahead) round.next_node = heap[i];
    if (round.next_node != no_node) {
      const Bid& next = bids_[round.next_node];
      round.next_entry = entries_[next.entry].traced;
      round.next_share = next.share;
      round.by = contest(bids_[n], next).by;
    }
    out.rounds.push_back(round);
  }
  return out;
}

}  // namespace hindsight::admission
