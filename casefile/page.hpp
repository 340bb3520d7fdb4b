#pragma once

#include <string>

#include "casefile/account.hpp"
#include "casefile/papers.hpp"

namespace hindsight::casefile {

/// index.html: everything for a person, in one page that loads nothing and runs nothing, for light and dark. It is XML as well, and its
/// policy (CSP) allows its own style and nothing else.
[[nodiscard]] std::string page_of(const Account& account, const Making& making);

}  // namespace hindsight::casefile
