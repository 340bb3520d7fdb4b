#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/context.hpp"
#include "doctor/finding.hpp"

namespace hindsight::doctor {

/// One of the things that are looked at.
struct Check {
  std::string_view name;  ///< For --only: "rights".
  std::string_view what;  ///< For the help.
  bool asks_cluster = true;
  Outcome (*examine)(Context&) = nullptr;
};

/// All of them, in their order.
[[nodiscard]] std::span<const Check> checks();
/// "server, rights, definitions, …".
[[nodiscard]] std::string check_names();
/// Errors: invalid, for a name that there is not.
[[nodiscard]] Result<void> check_chosen(const std::vector<std::string>& names);
/// Whether the chosen checks ask a cluster.
[[nodiscard]] bool ask_cluster(const Options& options);

struct Examined {
  std::string_view check;
  Outcome outcome;

  /// "error", "warning", "ok" or "skipped".
  [[nodiscard]] std::string_view status() const;
};

struct Examination {
  std::vector<Examined> checks;

  [[nodiscard]] std::size_t count(Severity severity) const;
  /// 0: nothing is wrong; 1: something is; 2: it could not be looked at.
  [[nodiscard]] int exit_status() const;
};

/// Runs the checks that were chosen, each within its time. `on_done` hears of each when it has ended.
[[nodiscard]] Examination examine(Context& context, const std::function<void(const Examined&)>& on_done);

}  // namespace hindsight::doctor
