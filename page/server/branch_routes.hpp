#pragma once

#include "page/branches/branches.hpp"
#include "page/server/page.hpp"

namespace hindsight::page {

/// What-if branches as the page has them: POST and GET branches, GET and DELETE branches/{id}; all of them for who sees all. Errors: those
/// of Branches::open.
[[nodiscard]] Result<BranchService> branch_service(std::shared_ptr<const events::Log> log, BranchesOptions options,
                                                   std::function<void(const std::string& branch_json)> tell);

}  // namespace hindsight::page
