#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "admission/model/catalog.hpp"
#include "projections/history.hpp"

namespace hindsight::projections {

/// The node that a word names, "node/N", by any name that kubectl takes for the kind; nothing: it names something else.
[[nodiscard]] std::optional<std::string> node_target(std::string_view word);

/// Is the record about the node of this name, or about a place on a host of this name? Of nodes that are called otherwise than their host
/// (TAS-24) it tells the first only.
[[nodiscard]] bool mentions_node(const RecordView& record, std::string_view node);

/// The history of one node: what it was seen to be, which flavors may use it, what others use of it, and whose pods got places there and
/// lost them. Feed it every record of the domain, `before` and `after` it is applied; observations that change nothing are left out.
class NodeHistory {
 public:
  explicit NodeHistory(std::string node) : node_(std::move(node)), name_(node_) {}

  void before(const RecordView& record, const StateView& state);
  void after(std::uint64_t offset, const RecordView& record, const StateView& state);
  /// A record that was set aside, and has no effect.
  void passed_over(std::uint64_t offset, const RecordView& record);

  [[nodiscard]] const std::vector<HistoryEntry>& entries() const { return entries_; }

 private:
  using Node = std::shared_ptr<const admission::NodeConfig>;
  /// Whose pods stand there.
  struct Standing {
    std::string object;                        ///< "Workload default/w".
    std::map<std::string, std::int64_t> pods;  ///< By pod set.
  };
  void begin(const StateView& state);
  [[nodiscard]] Node node(const StateView& state) const;
  [[nodiscard]] std::optional<Standing> standing_of(const StateView& state, std::string_view uid) const;
  /// Flavor → why it does not use the node; empty: it does.
  [[nodiscard]] std::map<std::string, std::string> flavors(const StateView& state) const;

  void compare_nodes(const Node& now);
  void compare_flavors(const StateView& state);
  void compare_standing(std::string_view uid, const StateView& state, const Event* event);
  void decided(const Event& event);
  void say(std::string object, std::string kind, std::string what, bool is_void = false);

  std::string node_;
  Symbol name_, host_;  ///< What places call it: its label kubernetes.io/hostname, or its name.
  bool begun_ = false;
  Node was_;
  std::map<std::string, std::string> flavors_;
  std::map<std::string, Standing, std::less<>> here_;       ///< By uid of the Workload.
  std::set<std::string, std::less<>> failed_for_;           ///< Workloads that list the node as failed.
  std::map<std::string, std::string, std::less<>> placed_;  ///< Pods that were told the node, by uid: their names.
  std::set<std::uint64_t> passed_over_;                     ///< Sequences of records that were set aside and are about it.
  HistoryEntry blank_;
  std::vector<HistoryEntry> entries_;
};

}  // namespace hindsight::projections
