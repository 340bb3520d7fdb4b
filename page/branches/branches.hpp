#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "events/log.hpp"
#include "page/branches/branch_play.hpp"
#include "page/branches/branches_folder.hpp"
#include "page/server/quiet_turns.hpp"
#include "projections/json.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::page {

struct BranchesOptions {
  std::string folder;        ///< Where logs of branches lie; made if it is not there. What an earlier process left is removed.
  std::size_t kept_max = 4;  ///< Branches, whatever became of them.
  std::uint64_t bytes_max = std::uint64_t{2} << 30;  ///< Of the log of each.
  std::chrono::seconds time_max{600};                ///< For which one may be played.
  bool quiet = false;                                ///< Somebody decides in this process, and a branch gives way to him.
  std::shared_ptr<QuietTurns> turns;                 ///< In which a branch is played then; null: without a pause.
  ReadManifests read_manifests;                      ///< Empty: manifests are refused.
  /// Told of a branch whenever its state changes, and of its progress now and then; from any thread, and it must not call back.
  std::function<void(const projections::Json& branch)> on_change;
};

/// What-if branches of one log: each a play of it with changes, whose own log can be looked at like any other. One is played at a time, by
/// a thread of this object; others wait. They live in memory and in temporary files, and go with the process. Thread-safe.
///
/// A branch is told as `Branch` of web/src/api/types.ts says. Who may make and see them is decided by whoever calls.
class Branches {
 public:
  /// Errors: those of the folder (denied, io).
  [[nodiscard]] static Result<std::unique_ptr<Branches>> open(const events::Log& log, BranchesOptions options);
  /// Ends what is being played, and removes all files once nobody looks at a branch any more.
  ~Branches();
  Branches(const Branches&) = delete;
  Branches& operator=(const Branches&) = delete;

  /// Starts a branch, or has it wait for its turn. `domain`: one of the log; `body`: JSON of a BranchRequest. Errors: invalid (what is
  /// asked for; the message names the edit and its field), conflict (there are as many as may be), those of the log.
  [[nodiscard]] Result<projections::Json> create(const std::string& domain, std::string_view body);
  /// All of them, the oldest first, without their results.
  [[nodiscard]] projections::Json list() const;
  /// With its result, when it is done. Errors: not_found.
  [[nodiscard]] Result<projections::Json> get(std::string_view id) const;
  /// Ends a play; the branch stays in the list as cancelled. Of one that has ended already it changes nothing. Errors: not_found.
  [[nodiscard]] Result<projections::Json> cancel(std::string_view id);
  /// Ends it, if need be, and throws it away. Who looks at its log still has it. Errors: not_found.
  [[nodiscard]] Result<void> remove(std::string_view id);

  /// The log of a branch that is done, of the domain `domain_of(id)`. Errors: not_found (there is no such branch), conflict (it is not
  /// done, or has no log of its own: the message says why).
  [[nodiscard]] Result<std::shared_ptr<const events::Log>> log_of(std::string_view id) const;
  [[nodiscard]] Result<std::string> domain_of(std::string_view id) const;

 private:
  struct Branch;
  Branches(const events::Log& log, BranchesOptions options, BranchesFolder folder);
  void run(const std::stop_token& stop);
  void play(const std::shared_ptr<Branch>& branch, const std::stop_token& stop);
  [[nodiscard]] Result<std::shared_ptr<Branch>> find(std::string_view id) const;
  [[nodiscard]] projections::Json told(const Branch& branch, bool with_result) const;
  void tell(const std::shared_ptr<Branch>& branch) const;

  const events::Log& log_;
  const BranchesOptions options_;
  const BranchesFolder folder_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::shared_ptr<Branch>> branches_;  ///< The oldest first.
  std::jthread player_;                            ///< Last: it ends before the rest goes.
};

}  // namespace hindsight::page
