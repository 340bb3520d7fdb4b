#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "admission/tables/text_index.hpp"
#include "admission/tables/workload_id.hpp"

namespace hindsight::admission {

/// Who is who in a domain: numbers of Workload parents by their key (uid of the job, or of the Workload that no job owns), and of Workloads
/// by uid. Numbers are given out again after an entry has gone.
class Registry {
 public:
  static constexpr std::uint32_t none = TextIndex::none;

  struct Workload {
    std::uint32_t parent = none;
    WorkloadId id = 0;
    [[nodiscard]] explicit operator bool() const { return parent != none; }
  };

  // ---- parents

  [[nodiscard]] std::uint32_t find_parent(std::string_view key) const;
  std::uint32_t add_parent(std::string_view key);  ///< The one that is there, or a new one.
  /// Its Workloads must have gone.
  void remove_parent(std::uint32_t parent);
  [[nodiscard]] bool has_parent(std::uint32_t parent) const { return parent < keys_.size() && !keys_[parent].empty(); }
  [[nodiscard]] const std::string& key(std::uint32_t parent) const { return keys_[parent]; }
  /// Numbers are below this.
  [[nodiscard]] std::uint32_t parents_end() const { return static_cast<std::uint32_t>(keys_.size()); }

  // ---- Workloads

  [[nodiscard]] Workload find_workload(std::string_view uid) const;
  /// none: no Workload has this number.
  [[nodiscard]] std::uint32_t parent_of(WorkloadId id) const { return id < workloads_.size() ? workloads_[id].parent : none; }
  /// Of a number that a Workload has.
  [[nodiscard]] std::string_view uid(WorkloadId id) const {
    return workloads_[id].uid.empty() ? keys_[workloads_[id].parent] : workloads_[id].uid;
  }
  Workload add_workload(std::string_view uid, std::string_view parent_key);  ///< The uid must not be known.
  void remove_workload(std::string_view uid);
  /// To another parent, and under another number: what is under way may still name the old one.
  Workload move_workload(std::string_view uid, std::string_view parent_key);

  // ---- snapshots

  template <class Archive>
  void write(Archive& a) const;
  template <class Archive>
  void read(Archive& a);

 private:
  struct Entry {
    std::string uid;  ///< Empty: that of the parent.
    std::uint32_t parent = none;
  };

  /// Do these name each number that is free, and no other?
  template <class IsFree>
  [[nodiscard]] static bool are_free(const std::vector<std::uint32_t>& list, std::size_t end, IsFree&& is_free) {
    std::vector<bool> seen(end, false);
    for (const std::uint32_t number : list) {
      if (number >= end || seen[number] || !is_free(number)) return false;
      seen[number] = true;
    }
    for (std::uint32_t number = 0; number < end; ++number)
      if (is_free(number) && !seen[number]) return false;
    return true;
  }

  std::vector<std::string> keys_;  ///< Empty: free.
  std::vector<std::uint32_t> free_parents_;
  TextIndex parent_index_;
  std::vector<Entry> workloads_;
  std::vector<WorkloadId> free_workloads_;
  TextIndex workload_index_;
};

template <class Archive>
void Registry::write(Archive& a) const {
  a(static_cast<std::uint64_t>(keys_.size()));
  for (const auto& key : keys_) a(key);
  a(static_cast<std::uint64_t>(free_parents_.size()));
  for (const auto parent : free_parents_) a(parent);  // in this order they are given out again
  a(static_cast<std::uint64_t>(workloads_.size()));
  for (const auto& w : workloads_) {
    a(w.uid);
    a(w.parent);
  }
  a(static_cast<std::uint64_t>(free_workloads_.size()));
  for (const auto id : free_workloads_) a(id);
}

/// Refuses numbers that lead nowhere, or of which two have one name.
template <class Archive>
void Registry::read(Archive& a) {
  *this = {};
  keys_.resize(a.count());
  for (std::uint32_t i = 0; i < keys_.size() && a.ok(); ++i) {
    a(keys_[i]);
    if (keys_[i].empty()) continue;
    if (find_parent(keys_[i]) != none) return a.refuse();
    parent_index_.insert(keys_[i], i);
  }
  free_parents_.resize(a.count());
  for (auto& parent : free_parents_) a(parent);
  if (!are_free(free_parents_, keys_.size(), [this](std::uint32_t i) { return keys_[i].empty(); })) return a.refuse();
  workloads_.resize(a.count());
  for (WorkloadId id = 0; id < workloads_.size() && a.ok(); ++id) {
    a(workloads_[id].uid);
    a(workloads_[id].parent);
    if (workloads_[id].parent == none) continue;
    if (!has_parent(workloads_[id].parent) || find_workload(uid(id))) return a.refuse();
    workload_index_.insert(uid(id), id);
  }
  free_workloads_.resize(a.count());
  for (auto& id : free_workloads_) a(id);
  if (!are_free(free_workloads_, workloads_.size(), [this](std::uint32_t i) { return workloads_[i].parent == none; })) a.refuse();
}

}  // namespace hindsight::admission
