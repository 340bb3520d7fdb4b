#pragma once

#include <compare>
#include <string>
#include <vector>

#include "doctor/context.hpp"
#include "doctor/finding.hpp"

namespace hindsight::doctor {

/// One verb on one kind, where it is so restricted on one name and in one namespace.
struct Right {
  std::string group, resource, subresource, verb, name, namespace_;

  /// "patch workloads/status.kueue.x-k8s.io", "get leases.coordination.k8s.io in hindsight-system".
  [[nodiscard]] std::string text() const;
  friend auto operator<=>(const Right&, const Right&) = default;
};

/// All that the roles of these objects give to the service account that deploy/ makes, each once.
[[nodiscard]] std::vector<Right> rights_of(const std::vector<Json>& manifests);

struct RightsFacts {
  enum class Who {
    account,  ///< The service account of deploy/: its manifests give it what it lacks.
    other,    ///< Another service account, or a user.
  };
  struct Asked {
    Right right;
    std::string manifest;  ///< Where it stands.
    bool allowed = false;
    std::string not_always;  ///< When it is not needed; empty: it always is.
  };

  Who who = Who::account;
  std::string subject;  ///< "ServiceAccount hindsight-system/hindsight", "user admin"
  Json rbac_subject;    ///< As it stands in a binding.
  std::vector<Asked> needed;
  std::vector<std::string> beyond;  ///< Rights that it has and has no use for.
  std::string unknown;              ///< Why some could not be asked for; empty: all were.
};

[[nodiscard]] Outcome judge_rights(const RightsFacts& facts, const Commands& commands);
[[nodiscard]] Outcome examine_rights(Context& context);

}  // namespace hindsight::doctor
