#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "projections/json.hpp"
#include "projections/quota_report.hpp"
#include "projections/wait_reasons.hpp"
#include "projections/why.hpp"

namespace hindsight::projections {

/// A queue or cohort that is asked about.
struct QueueTarget {
  enum class Kind { cluster_queue, cohort, local_queue };
  Kind kind = Kind::cluster_queue;
  std::string namespace_;  ///< Of a LocalQueue.
  std::string name;

  /// "ClusterQueue team-a", "LocalQueue team-a/jobs".
  [[nodiscard]] std::string text() const;
};

/// Reads "clusterqueue/NAME", "cohort/NAME", "localqueue/NAME" and "localqueue/NAMESPACE/NAME", with the names that kubectl takes for these
/// kinds. Nothing: it begins with none of them, and may be a workload. Errors: invalid.
[[nodiscard]] Result<std::optional<QueueTarget>> parse_queue_target(std::string_view text, std::string_view default_namespace);

/// What one ClusterQueue uses of a flavor and resource.
struct QueueUse {
  Symbol queue;
  Amount used = 0, nominal = 0, borrowed = 0;
  std::vector<Holder> holders;  ///< Largest first.
};

/// A flavor and resource that is used up, or of which the head lacks something: who uses it.
struct ScarcePair {
  Symbol flavor, resource;
  std::optional<QueueUse> own;      ///< Not of a cohort.
  std::vector<QueueUse> others;     ///< In the same tree, or all below a cohort; who borrows most first, then who uses most.
  std::size_t queues_left_out = 0;  ///< Others that are not listed,
  Amount amount_left_out = 0;       ///< and what they use together.
  Amount total = 0;                 ///< What all use.
  Amount held_by_others = 0;        ///< Of its own nominal quota, what it could not use now because others borrow it.
};

/// The first in line.
struct QueueHead {
  std::string name;  ///< "namespace/name".
  std::int64_t priority = 0;
  std::size_t position = 0;  ///< From 0, in its ClusterQueue.
  bool parked = false;       ///< Not tried before something in the tree changes.
  Time since;
  WaitReason reason;
  std::vector<FlavorTrial> trials;
  bool fits = false;                    ///< Each of its pod sets would fit some flavor, by quota.
  std::vector<std::string> preemption;  ///< As of a Workload that waits.
};

/// What a queue lacks, and who uses it.
struct QueueWhy {
  std::string object;  ///< "ClusterQueue team-a".
  std::string place;   ///< "in cohort research", "of ClusterQueue team-a".
  bool active = false;
  std::string headline;
  std::vector<std::string> facts;  ///< In order of weight.
  std::string quota_of;            ///< "ClusterQueue team-a": whose quota stands below.
  std::vector<SubtreeQuota> quota;
  std::vector<ScarcePair> scarce;
  std::optional<QueueHead> head;  ///< Not of a cohort; nothing: nobody is in line.
  bool by_queue = false;          ///< Of a cohort: reasons are told for each ClusterQueue.
  Time now;
  Waiters waiters;  ///< Those of the queue only.
  std::vector<ReasonCount> reasons;
};

/// Errors: not_found (there is none of this name; the message names similar ones).
[[nodiscard]] Result<QueueWhy> explain_queue(const StateView& state, const QueueTarget& target);

[[nodiscard]] std::string to_text(const QueueWhy& why, bool colour = false);
[[nodiscard]] Json to_json(const QueueWhy& why);

}  // namespace hindsight::projections
