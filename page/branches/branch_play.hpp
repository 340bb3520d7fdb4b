#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "events/log.hpp"
#include "page/branches/branch_request.hpp"
#include "projections/json.hpp"
#include "vocabulary/result.hpp"
#include "whatif/responses.hpp"

namespace hindsight::page {

/// Reads manifests as observations for whatif::Changes, of objects that are there at this moment; how long jobs run goes to the responses.
using ReadManifests =
    std::function<Result<std::vector<std::vector<std::byte>>>(const std::string& yaml, Time at, whatif::Responses& responses)>;

struct BranchPlay {
  /// Empty: manifests are refused.
  ReadManifests read_manifests;
  /// Where the records go; null: nowhere.
  events::Log* out = nullptr;
  /// Records done, of all that will be read; what is played beyond the record does not count.
  std::function<void(std::uint64_t done, std::uint64_t of)> progress;
  std::function<bool()> is_over;
};

struct PlayedBranch {
  /// As `hindsight what-if -o json`, with at most `differences_max` of those that differ (`differencesLeftOut`).
  std::shared_ptr<const projections::Json> result;
  std::vector<std::string> notices;  ///< What a reader of it should know.
  Time end;

  static constexpr std::size_t differences_max = 1'000;
};

/// Plays a domain of a log on with the edits of a request. Errors: not_found and invalid (an edit that finds nothing; the message begins
/// with its index and field), unavailable (it is over, or `out` is full), and those of whatif::Player.
[[nodiscard]] Result<PlayedBranch> play_branch(const events::Log& log, const std::string& domain, const BranchRequest& request,
                                               const BranchPlay& how);

}  // namespace hindsight::page
