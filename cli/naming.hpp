#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/kinds.hpp"
#include "projections/lookup.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::cli {

/// One object as it was named.
struct WantedName {
  std::string job_kind;                   ///< Not empty: the Workload of the job of this kind ("job", "jobset") and name.
  std::optional<std::string> namespace_;  ///< None: that of -n.
  std::string name;
};

/// Objects of one kind that were asked for.
struct WantedKind {
  const KnownKind* kind = nullptr;
  std::vector<WantedName> names;  ///< Empty: all.
};

/// Reads the words behind `get`: KIND[,KIND...] [NAME...], or KIND/NAME...; each NAME may be NAMESPACE/NAME where the kind has namespaces,
/// and of Workloads also job/NAME. `job/NAME` alone means the Workload of that job. Errors: invalid, with what is allowed.
[[nodiscard]] Result<std::vector<WantedKind>> read_wanted(const std::vector<std::string>& words);

/// Reads what one object is called, as read_wanted does. Errors: invalid, also where no name or several are given.
[[nodiscard]] Result<WantedKind> read_one_wanted(const std::vector<std::string>& words);

/// Refuses a name that carries a namespace of its own, as b/x or job/b/x, where the option -n was given and says another one. The option
/// must live as long as the command.
[[nodiscard]] CLI::Validator in_namespace_of(const CLI::Option* namespace_option);

/// The Workload or job that is meant.
[[nodiscard]] projections::Target target_of(const WantedName& name, const std::string& default_namespace);

}  // namespace hindsight::cli
