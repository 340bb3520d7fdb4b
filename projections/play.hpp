#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "admission/state/thinning.hpp"
#include "projections/lookup.hpp"
#include "projections/scratch_tree.hpp"
#include "vocabulary/arena.hpp"

namespace hindsight::projections {

/// Copies of the trees of cohorts that concern a Workload, without those who stand behind others like them in other queues. What comes of a
/// change is the same without them, as long as a play does not reach the last of those before them: then a copy is made that has more.
class TreeCopies {
 public:
  /// The state is to outlive this, and not to move on meanwhile. `kept`: of those who wait alike so many, one at least.
  TreeCopies(const admission::LoopDriver& state, std::uint32_t parent, std::size_t kept);

  /// The copy as it is now; made when somebody asks for it.
  [[nodiscard]] const admission::ThinnedTree& thinned();
  /// One in which nobody is left out.
  [[nodiscard]] const std::vector<std::byte>& whole();
  /// From now on a copy has more of these kinds.
  void keep_more(const std::set<admission::WaitingKind>& kinds);
  /// Some play has reached the last that were kept of a kind.
  [[nodiscard]] bool grown() const { return !thinning_.kept_of.empty(); }

 private:
  const admission::LoopDriver& state_;
  const std::uint32_t parent_;
  admission::Thinning thinning_;
  admission::ThinnedTree thinned_;
  std::vector<std::byte> whole_;  ///< Like that of `thinned_` empty as long as nobody has asked for it.
};

/// What plays begin with: a state, and how its configuration is read.
struct Stage {
  std::vector<std::byte> snapshot;  ///< Empty: `copies` has it.
  admission::Domain::SettingsReader read_settings;
  // Of all who ask on this stage, an explanation of a family and all of its Options for instance.
  mutable int played = 0;
  mutable std::size_t copied = 0;                ///< Bytes, for these plays.
  std::shared_ptr<TreeCopies> copies = nullptr;  ///< Of a stage of trees.

  /// The state of a log.
  [[nodiscard]] static Stage of(const admission::LoopDriver& state);
  /// Of it the trees of cohorts that concern a Workload: what comes of a change is the same for it, and a play copies no more than these.
  /// Where the trees of a state depend on each other it is the whole state. The Workload is one of this state, which is to outlive the
  /// stage and not to move on meanwhile. `kept`: see TreeCopies; another number makes plays cheaper or dearer, and no other answer.
  [[nodiscard]] static Stage of_tree(const admission::LoopDriver& state, const WorkloadAt& at, std::size_t kept = 2);
  /// So many bytes a play copies.
  [[nodiscard]] std::size_t bytes() const { return copies ? copies->thinned().bytes.size() : snapshot.size(); }
};

/// What a Workload might ask for instead, and its job with it; what has no value stays.
struct AskEdit {
  std::string pod_set;  ///< Of this one: `count`, `min_count` and `topology`.
  std::optional<std::int32_t> count, min_count;
  std::optional<admission::TopologyRequest> topology;  ///< Also of the pod sets of its group.
  std::optional<std::int32_t> priority;                ///< That of a WorkloadPriorityClass, which is made where there is none.
};

/// What would come of a change: a copy of the state in which the change is made and everything is decided that follows, with everybody who
/// waits, until nothing is left to decide. The state that it was copied from knows nothing of it.
///
/// The world answers at once: whoever is evicted gives its quota back and waits again, and pods of who is admitted are ready. Nobody who
/// runs comes to an end, and nobody new comes.
///
/// Where the copy has not all who wait (TreeCopies), and a play has reached somebody behind whom others are left out, what came of it is
/// not to be told: `play_out` sees to that.
class Play {
 public:
  /// `whole`: with all who wait.
  explicit Play(const Stage& stage, bool whole = false);
  /// What it copies.
  [[nodiscard]] static std::span<const std::byte> bytes_of(const Stage& stage, bool whole);

  /// Limits become others; those that are not named stay.
  void change(const std::vector<QuotaEdit>& edits);
  /// Its Workloads may preempt others, or are taken in turn otherwise.
  void change(const Symbol& cluster_queue, const PolicyEdit& policy);
  /// The Workload asks for something else, with all of its family, as if somebody had changed its job.
  void change(std::string_view workload_uid, const AskEdit& ask);
  /// The ClusterQueue is not stopped any more.
  void resume(const Symbol& cluster_queue);
  /// Nor is the LocalQueue.
  void resume(const Symbol& namespace_, const Symbol& local_queue);
  /// There are so many more nodes like this one, with nothing on them.
  void add_nodes(const admission::NodeConfig& like, std::int32_t count);
  /// The job of this Workload ends, with all that belongs to it.
  void end(std::string_view workload_uid);

  /// Somebody who is given quota, once for each time. Nobody of the family of the one that is asked for (8691).
  struct Start {
    std::string namespace_, name, uid;
    std::vector<std::pair<std::pair<Symbol, Symbol>, Amount>> amounts;  ///< (flavor, resource) → amount.
  };
  struct Outcome {
    bool starts = false;               ///< The Workload is given quota, and keeps it to the end; of a Parent (8691) one of its Options.
    std::vector<Start> before;         ///< Others who are given quota before it; if it does not start, all who are.
    std::vector<Start> after;          ///< Others, in the same step or later.
    std::vector<std::string> evicted;  ///< "namespace/name" of who loses it.
    bool at_rest = true;               ///< False: there was more to decide than was looked at.
  };
  /// What comes of it for this Workload. Timers fire that are due within two seconds of the moment, or of the end of its back-off.
  [[nodiscard]] Outcome run(std::string_view workload_uid);
  /// Of whom more than this copy has would be looked at.
  [[nodiscard]] const std::set<admission::WaitingKind>& reached() const { return reached_; }

 private:
  void append(Body body);
  void answer(const Decisions& step);
  void note(const Decisions& step, std::string_view uid, Outcome& out) const;
  void guard(const Event& event);
  void reach(std::string_view uid);
  [[nodiscard]] const admission::WorkloadState* find(std::string_view uid) const;
  [[nodiscard]] bool is_it_or_its_option(std::string_view uid, std::string_view asked) const;
  [[nodiscard]] bool keeps_quota(std::string_view asked) const;
  [[nodiscard]] bool are_one_family(std::string_view a, std::string_view b) const;
  void clear(const admission::WorkloadState& w, std::vector<Event>& events);
  void answer_families(const Decisions& step);
  [[nodiscard]] Text class_of(std::int32_t priority);

  admission::LoopDriver driver_;
  Arena arena_;
  Time now_;
  const std::map<std::string, admission::WaitingKind, std::less<>>* guards_ = nullptr;  ///< Of the stage; null: nobody is left out.
  std::set<admission::WaitingKind> reached_;
};

/// What comes of a change for this Workload; `make` makes it, on each copy that is needed to tell.
[[nodiscard]] Play::Outcome play_out(const Stage& stage, std::string_view workload_uid, const std::function<void(Play&)>& make);

}  // namespace hindsight::projections
