// What a queue offers to a cycle of its tree.

#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "admission/queue/cluster_queue.hpp"

namespace hindsight::admission {

/// Who is tried first; null: nobody.
const ClusterQueue::Pending* ClusterQueue::head(const Context& c) const {
  const auto* config = c.catalog->queue(name_);
  if (config == nullptr || !c.catalog->queue_active(name_) || heap_.empty()) return nullptr;
  const Pending* head = &heap_.top();
  // Also in a strict queue: what is kept for the Option that a job moves to is for nobody else to wait for (CA-35).
  const bool kept =
      c.catalog->settings.strict_families && sticky_ != nullptr && sticky_->info->option != nullptr && sticky_->info->option->next;
  const bool may_go_first = config->strategy == QueueingStrategy::best_effort_fifo || kept;
  if (may_go_first && sticky_ != nullptr && sticky_->in_heap() && !head->info->asks_nothing &&
      (!fair_ || sticky_->local->lane.usage == heap_.first().usage))  // BA-57; a lower usage of its LocalQueue comes first (§3.2)
    return sticky_;
  return head;
}

/// CA-142, CA-143: a family holds up its queue as long as it has got nothing. When it is admitted, its upgrade Options do not, unless the
/// settings say so.
bool ClusterQueue::holds_up_queue(const OptionInfo& option, const Settings& settings) const {
  if (option.running != no_workload) return settings.upgrades_block;
  const auto family = families_.find(option.parent);
  return family == families_.end() || family->second.reserving == 0;
}

msg::HeadOffered ClusterQueue::offered(const Pending& p, const Context& c) const {
  msg::HeadOffered h{};
  h.queue = name_;
  h.generation = generation_;
  h.present = true;
  h.head.workload = p.info;
  h.head.cluster_queue = name_;
  h.head.scan = p.scan;
  h.gate_open = gate_open(*p.info, c.now);
  h.sticky = &p == sticky_;
  h.head.preemptor = h.sticky && p.info->generation == sticky_generation_;
  h.alone = pending_.size() == 1;
  h.head.strict = c.catalog->queue(name_)->strategy == QueueingStrategy::strict_fifo;
  h.one_of_family = h.head.strict && p.info->option != nullptr && c.catalog->settings.strict_families;
  if (h.one_of_family) h.head.strict = holds_up_queue(*p.info->option, c.catalog->settings);
  const bool has_equals = p.info->equivalence_hash != 0 && !h.one_of_family;
  h.equals = has_equals ? static_cast<std::uint32_t>(waiting_equals(p.info->equivalence_hash) - 1) : 0;
  return h;
}

void ClusterQueue::offer(Address to, const Context& c, Outbox& out) const {
  auto h = std::make_unique<msg::HeadOffered>();
  h->queue = name_;
  h->generation = generation_;
  if (const Pending* p = head(c); p != nullptr) {
    *h = offered(*p, c);
    if (h->one_of_family && p == &heap_.top())
      heap_.visit_first_lane([&](const Pending& other) {
        if (&other == p) return true;
        if (other.info->option == nullptr || other.info->option->parent != p->info->option->parent) return false;
        h->siblings.push_back(offered(other, c));
        return true;
      });
  }
  out.send(queue_address(name_), to, std::move(h));
}

void ClusterQueue::offer_more(const msg::OfferMore& m, Address to, const Context& c, Outbox& out) const {
  msg::MoreOffered more{name_, {}, false};
  const auto it = pending_.find(m.head);
  const bool known = it != pending_.end() && it->second.in_heap();
  // A preemptor that waits while somebody else is the head may be the next one, or not: that depends on what ranks before it.
  const bool preemptor_waits = sticky_ != nullptr && sticky_->in_heap() && sticky_->info->id != m.head;
  if (known && !preemptor_waits) {
    std::unordered_set<std::uint64_t> met{it->second.info->equivalence_hash};
    more.all = true;
    heap_.visit_groups([&](const Lanes::Group& group) {
      if (!met.insert(group.hash).second) return true;  // of another LocalQueue, and parked with those met before
      if (met.size() - 2 < m.first) return true;
      if (more.heads.size() == m.count) return more.all = false;
      more.heads.push_back(offered(group.waiting().top(), c));
      return true;
    });
  }
  out.send(queue_address(name_), to, std::move(more));
}

/// With admission fair sharing the next one depends on what the first one gets.
void ClusterQueue::offer_next(const msg::OfferNext& m, Address to, const Context& c, Outbox& out) const {
  std::vector<Head> next;
  const auto it = pending_.find(m.head);
  if (it != pending_.end() && !fair_) {
    const OptionInfo* const family = it->second.info->option.get();
    heap_.visit_first_lane([&](const Pending& p) {
      if (p.info->id == m.head) return true;
      if (family != nullptr && p.info->option != nullptr && p.info->option->parent == family->parent) return true;
      next.push_back(offered(p, c).head);
      return next.size() < m.count;
    });
  }
  std::shared_ptr<Head> chain;
  for (; !next.empty(); next.pop_back()) {
    next.back().next = std::move(chain);
    chain = std::make_shared<Head>(std::move(next.back()));
  }
  out.send(queue_address(name_), to, msg::NextOffered{name_, std::move(chain)});
}

}  // namespace hindsight::admission
