#pragma once

#include <string>
#include <vector>

#include "cli/session.hpp"

namespace hindsight::cli {

/// The words that kubectl gets for `edit`, `patch`, `delete`, `get` and `describe`: the same, but that the kind has its group, because
/// other groups have kinds of the same name.
[[nodiscard]] std::vector<std::string> kubectl_words(const std::vector<std::string>& arguments);

/// Are `get` and `describe` meant for the cluster instead of a log? So with --kubeconfig or --context; and of the plugin kubectl-kueue,
/// unless a log is named.
[[nodiscard]] bool is_for_cluster(const std::string& program, const std::vector<std::string>& arguments, bool log_in_environment);

/// Becomes kubectl. Errors: not_found, when the PATH has none.
[[nodiscard]] Result<int> become_kubectl(const std::vector<std::string>& words);

}  // namespace hindsight::cli
