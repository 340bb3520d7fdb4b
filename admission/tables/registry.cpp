#include "admission/tables/registry.hpp"

namespace hindsight::admission {

// ---- parents --------------------------------------------------------------------------------------------------------------------

std::uint32_t Registry::find_parent(std::string_view key) const {
  return parent_index_.find(key, [this](std::uint32_t i) -> std::string_view { return keys_[i]; });
}

std::uint32_t Registry::add_parent(std::string_view key) {
  std::uint32_t parent = find_parent(key);
  if (parent != none) return parent;
  if (!free_parents_.empty()) {
    parent = free_parents_.back();
    free_parents_.pop_back();
  } else {
    parent = static_cast<std::uint32_t>(keys_.size());
    keys_.emplace_back();
  }
  keys_[parent] = key;
  parent_index_.insert(key, parent);
  return parent;
}

void Registry::remove_parent(std::uint32_t parent) {
  if (!has_parent(parent)) return;
  parent_index_.erase(keys_[parent], parent);
  keys_[parent] = {};
  free_parents_.push_back(parent);
}

// ---- Workloads ------------------------------------------------------------------------------------------------------------------

Registry::Workload Registry::find_workload(std::string_view uid) const {
  const WorkloadId id = workload_index_.find(uid, [this](WorkloadId i) { return this->uid(i); });
  if (id == none) return {};
  return {workloads_[id].parent, id};
}

Registry::Workload Registry::add_workload(std::string_view uid, std::string_view parent_key) {
  WorkloadId id = 0;
  if (!free_workloads_.empty()) {
    id = free_workloads_.back();
    free_workloads_.pop_back();
  } else {
    id = static_cast<WorkloadId>(workloads_.size());
    workloads_.emplace_back();
  }
  workloads_[id].parent = add_parent(parent_key);
  if (uid != parent_key) workloads_[id].uid = uid;
  workload_index_.insert(uid, id);
  return {workloads_[id].parent, id};
}

Registry::Workload Registry::move_workload(std::string_view uid, std::string_view parent_key) {
  const Workload old = find_workload(uid);
  workload_index_.erase(uid, old.id);
  const Workload moved = add_workload(uid, parent_key);
  workloads_[old.id] = {};
  free_workloads_.push_back(old.id);
  return moved;
}

void Registry::remove_workload(std::string_view uid) {
  const Workload w = find_workload(uid);
  if (!w) return;
  workload_index_.erase(uid, w.id);
  workloads_[w.id] = {};
  free_workloads_.push_back(w.id);
}

}  // namespace hindsight::admission
