#pragma once

#include <map>
#include <string>

namespace hindsight::runtime {

/// What this binary was built from, and for what: the labels of kueue_build_info (base-api §8). A build without a repository around it
/// knows no commit; `-DHINDSIGHT_COMMIT=` and `-DHINDSIGHT_COMMIT_DATE=` tell it.
[[nodiscard]] std::map<std::string, std::string> build_facts();

}  // namespace hindsight::runtime
