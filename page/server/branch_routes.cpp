#include "page/server/branch_routes.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "page/server/log_routes.hpp"

namespace hindsight::page {
namespace {

/// The log is there as long as its branches.
struct BranchesOfLog {
  std::shared_ptr<const events::Log> log;
  std::unique_ptr<Branches> branches;
};
using Shared = std::shared_ptr<BranchesOfLog>;

Result<Json> begin_branch(const BranchesOfLog& all, const ApiCall& call) {
  const auto domain = domain_of(*all.log, call.parameters);
  if (!domain) return tl::unexpected(domain.error());
  return all.branches->create(*domain, call.body);
}

/// With `keep` it is only ended, and what it was asked for stays to be seen.
Result<Json> end_branch(const BranchesOfLog& all, const ApiCall& call) {
  const auto keep = call.parameters.flag("keep");
  if (!keep) return tl::unexpected(keep.error());
  const std::string& id = call.parameters.of_path("id");
  if (*keep) return all.branches->cancel(id);
  if (auto gone = all.branches->remove(id); !gone) return tl::unexpected(gone.error());
  return Json();
}

}  // namespace

Result<BranchService> branch_service(std::shared_ptr<const events::Log> log, BranchesOptions options,
                                     std::function<void(const std::string& branch_json)> tell) {
  options.on_change = [tell = std::move(tell)](const Json& branch) { tell(branch.dump(-1, ' ', false, Json::error_handler_t::replace)); };
  auto opened = Branches::open(*log, std::move(options));
  if (!opened) return tl::unexpected(opened.error());
  const auto all = std::make_shared<BranchesOfLog>(BranchesOfLog{std::move(log), std::move(*opened)});
  BranchService out;
  out.held = all;
  out.logs = [all](const std::string& id) { return all->branches->log_of(id); };
  out.routes.push_back({.method = "POST",
                        .path = "branches",
                        .handler = [all](const ApiCall& call) { return begin_branch(*all, call); },
                        .summary = "Begins a what-if branch: BranchRequest",
                        .parameters = {"domain"},
                        .only_for_all = true,
                        .body_bytes_max = BranchRequest::body_bytes_max});
  out.routes.push_back({.path = "branches",
                        .handler = [all](const ApiCall&) -> Result<Json> { return all->branches->list(); },
                        .summary = "The branches that there are, the oldest first, without their results",
                        .parameters = {"domain"},
                        .only_for_all = true});
  out.routes.push_back({.path = "branches/{id}",
                        .handler = [all](const ApiCall& call) { return all->branches->get(call.parameters.of_path("id")); },
                        .summary = "A branch, with its result when it is done",
                        .parameters = {"domain"},
                        .only_for_all = true});
  out.routes.push_back({.method = "DELETE",
                        .path = "branches/{id}",
                        .handler = [all](const ApiCall& call) { return end_branch(*all, call); },
                        .summary = "Throws a branch away; with keep=true it is only ended",
                        .parameters = {"keep", "domain"},
                        .only_for_all = true});
  return out;
}

}  // namespace hindsight::page
