// A snapshot of the trees of cohorts that concern one Workload parent (SnapshotCodec::write_tree), and the same without those who wait
// behind others like them (write_thinned).

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "admission/rules.hpp"
#include "admission/scheduling/next_cycle.hpp"
#include "admission/state/archive.hpp"
#include "admission/state/snapshot.hpp"
#include "admission/state/state_fields.hpp"

namespace hindsight::admission {
namespace {

/// Copies what is kept of `from` (FieldKind), but for the members of these names, which follow in another way.
template <class T>
void copy_kept(T& to, const T& from, std::initializer_list<std::string_view> without) {
  StateFields<T>::each(
      [&]<FieldKind kind>(FieldKindConstant<kind>, std::string_view name, auto& copy, const auto& original) {
        if constexpr (kind == FieldKind::state || kind == FieldKind::kept)
          if (std::find(without.begin(), without.end(), name) == without.end()) copy = original;
      },
      to, from);
}

}  // namespace

bool SnapshotCodec::trees_are_apart(const Domain& domain) {
  return domain.rules_ >= rules_with_rest_by_tree && !domain.catalog_->settings.block_admission;
}

/// Who belongs to the part, and the part under numbers of its own. A friend's class: it reads the domain as the codec does.
class SnapshotCodec::TreePart {
 public:
  TreePart(const Entities& entities, std::uint32_t parent) : all_(entities), d_(entities.domain_), catalog_(*d_.catalog_) {
    add_parent(parent);
    while (!untold_.empty()) {
      const std::uint32_t next = untold_.back();
      untold_.pop_back();
      follow(next);
    }
  }

  /// Takes out those who stand behind others like them, but in the queues in which this parent waits.
  void thin(const Thinning& thinning, std::uint32_t asked, ThinnedTree& out) {
    const auto whole = queues_of(asked);
    for (const Symbol& name : queues_)
      if (const auto it = all_.queues_.find(name.id()); it != all_.queues_.end() && !whole.contains(name)) thin(*it->second, thinning, out);
  }

  [[nodiscard]] std::vector<std::byte> write() {
    number_rows();
    const Domain part = domain();
    ArchiveWriter a;
    std::uint32_t version = snapshot_version;
    a(version);
    write_domain(a, part);
    std::uint64_t live = 0;
    for (const auto& [index, number] : parents_) live += entity(index) == nullptr ? 0 : 1;
    a(live);
    for (const auto& [index, number] : parents_) {
      const auto* parent = entity(index);
      if (parent == nullptr) continue;
      auto image = parent->image();
      for (auto& w : image.workloads) w.id = workloads_.at(w.id);
      write_parent(a, number, std::move(image));
    }
    std::vector<const ClusterQueue*> queues;
    for (const Symbol& name : queues_)
      if (const auto it = all_.queues_.find(name.id()); it != all_.queues_.end()) queues.push_back(it->second.get());
    a(static_cast<std::uint64_t>(queues.size()));
    for (const auto* q : queues) write_queue(a, q->name(), image_of(*q));
    return a.take();
  }

 private:
  /// Null: nothing is left of it.
  [[nodiscard]] const WorkloadParent* entity(std::uint32_t index) const {
    const auto* parent = all_.parent(index);
    return parent == nullptr || parent->empty() ? nullptr : parent;
  }

  // ---- who belongs to it ----------------------------------------------------------------------------------------------------------

  void add_parent(std::uint32_t index) {
    if (d_.registry_.has_parent(index) && parents_.try_emplace(index, 0).second) untold_.push_back(index);
  }

  void add_workloads(const std::unordered_set<WorkloadId>& ids) {
    for (const WorkloadId id : ids) add_parent(d_.registry_.parent_of(id));
  }

  /// All of its tree.
  void add_queue(const Symbol& name) {
    if (name.empty() || catalog_.queue(name) == nullptr || queues_.contains(name)) return;
    const Symbol root = catalog_.root_of(name);
    if (!root.empty()) roots_.insert(root);
    Catalog::Names members{name};
    if (!root.empty()) members = catalog_.members(root);
    for (const Symbol& queue : members) {
      if (!queues_.insert(queue).second) continue;
      for (const auto& key : catalog_.local_queues_of(queue)) add_local_queue(key);
      if (const auto it = d_.holders_.find(queue); it != d_.holders_.end()) add_workloads(it->second);
    }
  }

  void add_local_queue(const Catalog::LocalQueueKey& key) {
    if (!local_queues_.insert(key).second) return;
    if (const auto it = d_.members_.find(key); it != d_.members_.end()) add_workloads(it->second);
  }

  /// Whom this one brings with it.
  void follow(std::uint32_t index) {
    if (const auto* parent = entity(index)) {
      for (const auto& w : parent->workloads()) {
        namespaces_.insert(w.namespace_);
        if (const auto* queue = catalog_.local_queue(w.namespace_, w.queue_name)) {
          add_local_queue({w.namespace_, w.queue_name});
          add_queue(queue->cluster_queue);
        }
        if (w.admission) add_queue(w.admission->cluster_queue);
        if (w.family && w.family->hold) add_queue(w.family->hold->cluster_queue);
      }
      if (const auto& job = parent->job()) {
        namespaces_.insert(job->namespace_);
        if (catalog_.local_queue(job->namespace_, job->queue_name) != nullptr) add_local_queue({job->namespace_, job->queue_name});
      }
      for (const auto& pod : parent->pods())
        if (const auto it = d_.pods_.find(std::string(pod.uid.text())); it != d_.pods_.end()) add_parent(it->second.owner);
    }
    if (const auto it = d_.pods_of_owners_.find(index); it != d_.pods_of_owners_.end())
      for (const auto& uid : it->second)
        if (const auto pod = d_.pods_.find(uid); pod != d_.pods_.end()) add_parent(pod->second.keeper);
    if (const auto it = d_.lineages_.find(index); it != d_.lineages_.end())
      for (const auto& uid : {it->second.owner_uid, it->second.ancestor}) add_parent(d_.registry_.find_parent(uid));
    const std::string& key = d_.registry_.key(index);
    for (const auto* below : {&d_.owned_, &d_.descendants_})
      if (const auto it = below->find(key); it != below->end())
        for (const std::uint32_t child : it->second) add_parent(child);
  }

  // ---- who may be left out of it ----------------------------------------------------------------------------------------------------

  [[nodiscard]] std::set<Symbol, ByText> queues_of(std::uint32_t index) const {
    std::set<Symbol, ByText> out;
    if (const auto* parent = entity(index))
      for (const auto& w : parent->workloads())
        if (const auto* queue = catalog_.local_queue(w.namespace_, w.queue_name)) out.insert(queue->cluster_queue);
    return out;
  }

  /// Nothing of it but what its kind says tells when it is tried, and what comes of that.
  [[nodiscard]] static bool is_like_others(const WorkloadInfo& w) {
    return w.equivalence_hash != 0 && w.option == nullptr && w.replaces == no_workload && !w.asks_nothing && !w.evicted &&
           !w.failed_checks && !w.requeued_false && !w.requeue_at.is_set() && w.limits_error.empty();
  }

  /// Nobody waits for it, and nothing is to happen to it but that it is tried.
  [[nodiscard]] bool only_waits(std::uint32_t index) const {
    const auto* parent = entity(index);
    if (parent == nullptr || parent->workloads().size() != 1 || !parent->pods().empty() || !parent->at_rest()) return false;
    if (parent->job() && parent->job()->requested_since != 0) return false;
    if (index < d_.is_dirty_.size() && d_.is_dirty_[index]) return false;
    if (index < d_.due_of_.size() && d_.due_of_[index].is_set()) return false;
    const std::string& key = d_.registry_.key(index);
    return !d_.lineages_.contains(index) && !d_.pods_of_owners_.contains(index) && !d_.owned_.contains(key) &&
           !d_.descendants_.contains(key);
  }

  void thin(const ClusterQueue& queue, const Thinning& thinning, ThinnedTree& out) {
    struct Met {
      std::size_t kept = 0;
      const WorkloadInfo* guard = nullptr;  ///< Of the kept ones that behind which only those are that a cycle looks ahead to.
      bool parked = false;                  ///< The last one is.
    };
    std::map<WaitingKind, Met> met;
    const auto waiting = queue.waiting();
    auto& image = images_.emplace(&queue, queue.image()).first->second;
    const std::string_view first_served = image.sticky_uid.view();
    const std::size_t left_out_before = out.left_out;
    for (const auto& [info, parked] : waiting) {
      if (!is_like_others(*info)) continue;
      const WaitingKind kind{queue.name(), info->namespace_, info->local_queue, info->equivalence_hash};
      Met& m = met[kind];
      const auto more = thinning.kept_of.find(kind);
      const std::size_t wanted = std::max<std::size_t>({1, thinning.kept, more == thinning.kept_of.end() ? 0 : more->second});
      const std::uint32_t parent = d_.registry_.parent_of(info->id);
      // One that is parked is woken by the same that wakes the one before it.
      if (m.kept >= wanted + cycles_ahead && parked == m.parked && info->uid.view() != first_served && only_waits(parent) &&
          parents_.erase(parent) != 0) {
        out.guards.try_emplace(std::string(m.guard->uid.view()), kind);
        left_out_.insert(info->uid.view());
        ++out.left_out;
        continue;
      }
      if (++m.kept <= wanted) m.guard = info.get();
      m.parked = parked;
    }
    if (out.left_out != left_out_before) std::erase_if(image.entries, [&](const auto& e) { return left_out_.contains(e.uid.view()); });
  }

  /// It is asked for once.
  [[nodiscard]] ClusterQueue::Image image_of(const ClusterQueue& queue) {
    const auto it = images_.find(&queue);
    return it == images_.end() ? queue.image() : std::move(it->second);
  }

  // ---- the part -------------------------------------------------------------------------------------------------------------------

  /// In the order of the old numbers.
  void number_rows() {
    std::uint32_t next = 0;
    for (auto& [index, number] : parents_) {
      number = next++;
      if (const auto* parent = entity(index))
        for (const auto& w : parent->workloads()) workloads_.try_emplace(w.id, 0);
    }
    WorkloadId id = 0;
    for (auto& [old, number] : workloads_) number = id++;
  }

  [[nodiscard]] Domain domain() const {
    Domain part(d_.read_settings_);
    copy_kept(part, d_,
              {"catalog_", "registry_", "workload_places_", "job_kinds_", "lineages_", "pods_", "reactivations_", "consumed_", "seen_"});
    part.catalog_ = catalog();
    part.catalog_changed_ = d_.catalog_changed_;
    for (const auto& [index, number] : parents_) {
      (void)part.registry_.add_parent(d_.registry_.key(index));
      part.job_kinds_.push_back(index < d_.job_kinds_.size() ? d_.job_kinds_[index] : JobKind::none);
      part.is_dirty_.push_back(index < d_.is_dirty_.size() && d_.is_dirty_[index]);
      if (const auto it = d_.lineages_.find(index); it != d_.lineages_.end()) part.lineages_.emplace(number, it->second);
    }
    for (const auto& [old, number] : workloads_) {
      (void)part.registry_.add_workload(d_.registry_.uid(old), d_.registry_.key(d_.registry_.parent_of(old)));
      part.workload_places_.push_back(old < d_.workload_places_.size() ? d_.workload_places_[old] : WorkloadPlace{});
    }
    for (const auto& [index, number] : parents_) copy_pods(index, part);
    for (const auto& [root, due] : d_.reactivations_)
      if (roots_.contains(root)) part.reactivations_.emplace(root, due);
    for (const auto& key : local_queues_)
      if (const auto it = d_.consumed_.find(key); it != d_.consumed_.end()) part.consumed_.insert(*it);
    return part;
  }

  void copy_pods(std::uint32_t owner, Domain& part) const {
    const auto uids = d_.pods_of_owners_.find(owner);
    if (uids == d_.pods_of_owners_.end()) return;
    const auto number_of = [&](std::uint32_t index) {
      const auto it = parents_.find(index);
      return it == parents_.end() ? Registry::none : it->second;
    };
    for (const auto& uid : uids->second)
      if (const auto pod = d_.pods_.find(uid); pod != d_.pods_.end())
        part.pods_.emplace(uid, PodPlace{number_of(pod->second.owner), number_of(pod->second.keeper), pod->second.namespace_});
  }

  /// Of queues, LocalQueues and namespaces those that somebody in it has to do with.
  [[nodiscard]] std::shared_ptr<Catalog> catalog() const {
    auto out = std::make_shared<Catalog>();
    copy_kept(*out, catalog_, {"queues", "local_queues", "namespaces"});
    for (const Symbol& name : queues_) out->queues.emplace(name, catalog_.queues.at(name));
    auto namespaces = namespaces_;
    for (const auto& key : local_queues_) {
      namespaces.insert(key.first);
      out->local_queues.insert(*catalog_.local_queues.find(key));
    }
    for (const Symbol& name : namespaces)
      if (const auto it = catalog_.namespaces.find(name); it != catalog_.namespaces.end()) out->namespaces.insert(*it);
    return out;
  }

  const Entities& all_;
  const Domain& d_;
  const Catalog& catalog_;
  std::map<std::uint32_t, std::uint32_t> parents_;  ///< With their numbers in the part.
  std::map<WorkloadId, WorkloadId> workloads_;      ///< Likewise.
  std::vector<std::uint32_t> untold_;               ///< Of `parents_`: not followed yet.
  std::set<Symbol, ByText> queues_, roots_, namespaces_;
  Catalog::LocalQueueKeys local_queues_;
  std::unordered_set<std::string_view> left_out_;              ///< By uid; the entities keep the texts.
  std::map<const ClusterQueue*, ClusterQueue::Image> images_;  ///< Of queues in which others wait, without those who were left out.
};

std::vector<std::byte> SnapshotCodec::write_tree(const Entities& entities, std::uint32_t parent) {
  if (!trees_are_apart(entities.domain_) || !entities.domain_.registry_.has_parent(parent)) return write(entities);
  return TreePart(entities, parent).write();
}

ThinnedTree SnapshotCodec::write_thinned(const Entities& entities, std::uint32_t parent, const Thinning& thinning) {
  ThinnedTree out;
  if (!trees_are_apart(entities.domain_) || !entities.domain_.registry_.has_parent(parent)) {
    out.bytes = write(entities);
    return out;
  }
  TreePart part(entities, parent);
  part.thin(thinning, parent, out);
  out.bytes = part.write();
  return out;
}

}  // namespace hindsight::admission
