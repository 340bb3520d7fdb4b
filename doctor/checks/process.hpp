#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "doctor/context.hpp"
#include "doctor/finding.hpp"

namespace hindsight::doctor {

/// What a process says of itself at --server.
struct ProcessFacts {
  struct Condition {
    std::string name, detail;
    bool ok = false;
  };
  std::string address;
  std::string unreachable;  ///< Why nothing came; empty: it answers.
  int health_status = 0, ready_status = 0;
  std::vector<Condition> health, ready;
  int metrics_status = 0;                 ///< 404: it does not serve them there.
  std::map<std::string, double> metrics;  ///< By name, labels summed up.
};

/// Of a text in the format of Prometheus, values by name; those of one name with several sets of labels are added. At most so many names.
[[nodiscard]] std::map<std::string, double> read_metrics(const std::string& text, std::size_t names_max = 10'000);

[[nodiscard]] Outcome judge_process(const ProcessFacts& facts, const Commands& commands);
[[nodiscard]] Outcome examine_process(Context& context);

}  // namespace hindsight::doctor
