#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "admission/messages.hpp"
#include "admission/model/workload_state.hpp"
#include "admission/options/option_plan.hpp"

namespace hindsight::admission {

/// The members of a family of concurrent admission as they stand to each other (8691). Positions in the list of Workloads of their entity.
struct Family {
  static constexpr std::size_t none = ~std::size_t{0};

  std::size_t parent = none;
  const QueueConfig* queue = nullptr;  ///< Where the family is to be queued; null: there is no such ClusterQueue now.
  std::span<const OptionSpec> specs;   ///< By rank; of `plan`.
  std::vector<std::size_t> members;    ///< By rank; none: it is not there.
  std::vector<std::size_t> strangers;  ///< Options that are none of these any more, or never were.
  std::vector<std::size_t> options;    ///< Both, in the order of the list.
  std::size_t running = none;          ///< The one that is admitted (A of the specification), also while it is on its way out.
  FlavorPositions running_on;          ///< The flavors that it was assigned.
  std::size_t target = none;           ///< The member that a migration leads to.
  FlavorPositions target_on;           ///< The flavors that are kept for it, or that it was assigned.
  std::shared_ptr<const std::vector<OptionSpec>> plan;

  [[nodiscard]] std::size_t rank_of(std::size_t index) const {
    for (std::size_t r = 0; r < members.size(); ++r)
      if (members[r] == index) return r;
    return none;
  }
};

/// What a Workload is to families.
enum class FamilyRole : std::uint8_t {
  plain,    ///< It has to do with none.
  parent,   ///< Options are queued in its place, or will be.
  option,   ///< It is queued in place of its Parent.
  stray,    ///< Made as an Option, and its Parent is none, or is not there.
  refused,  ///< It would be a Parent, but such a Workload cannot be one (CA-95).
};

/// A move that a family begins anew within this time of has come to nothing (8691 §6).
inline constexpr Duration move_undone_within = Duration::seconds(600);
/// How long the next move waits then, at first and at most; it doubles with each.
inline constexpr Duration first_pause_of_moves = Duration::seconds(60), last_pause_of_moves = Duration::seconds(3600);

/// Families whose Parents name the same owner; more of them are not formed. Each step looks at all of them.
inline constexpr std::size_t families_of_one_owner_max = 256;

/// The families among the Workloads of one entity. Who belongs to whom is found once and kept until one of them comes, goes or says
/// something else of itself: nearly every message changes how a member stands, and anybody can make thousands of Workloads that name the
/// same owner. Each call gets the same list of Workloads as long as `forget` is not called.
class FamilyTable {
 public:
  void forget() { known_ = false; }

  /// Position of the Parent of an Option, if it is one; of a Parent its own; Family::none: it belongs to no family.
  [[nodiscard]] std::size_t parent_of(std::span<const WorkloadState> all, std::size_t index);
  /// `parent`: position of a Parent. What is returned is of the state as it is now, and holds until the next call.
  [[nodiscard]] const Family& family(std::span<const WorkloadState> all, std::size_t parent, const Context& c);
  [[nodiscard]] std::size_t size(std::span<const WorkloadState> all);

 private:
  struct Entry {
    Family family;
    Symbol queue;                  ///< For which its members were told apart,
    std::uint64_t configured = 0;  ///< by this state of the catalog; see Context.
    std::vector<Symbol> pinned;    ///< Flavors of the slice that the Parent is to replace.
    bool resolved = false;
  };
  void find_all(std::span<const WorkloadState> all);
  static void tell_members_apart(Entry& entry, std::span<const WorkloadState> all, const Context& c);

  bool known_ = false;
  static constexpr std::uint32_t no_family = ~std::uint32_t{0};
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> entry_of_;  ///< Parallel to the Workloads.
};

/// The flavors that were assigned, each once.
[[nodiscard]] std::vector<Symbol> assigned_flavors(const Admission& admission);
/// Makes `out` their places in the queue, ascending; it keeps its memory, for this is asked with every message.
void find_positions(const QueueConfig& queue, const Admission& admission, FlavorPositions& out);

/// Name of the object that is made for an Option (8691 §2.7).
[[nodiscard]] std::string option_object_name(const WorkloadState& parent, const OptionSpec& spec, const Settings& settings);

/// The ClusterQueue that the Workload is queued in by its LocalQueue; empty: there is no such LocalQueue.
[[nodiscard]] const Symbol& cluster_queue_of(const WorkloadState& w, const Catalog& catalog);

/// Is it as much an Option of this Parent as its owner reference says? It asks for the same, or whoever made it wants quota for something
/// else (CA-10).
[[nodiscard]] bool asks_for_the_same(const WorkloadState& option, const WorkloadState& parent);

/// What is known of an Option; of one that nothing was decided about yet: nothing.
[[nodiscard]] const OptionState& option_state(const WorkloadState& w);

}  // namespace hindsight::admission
