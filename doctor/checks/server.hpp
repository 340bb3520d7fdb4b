#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/context.hpp"
#include "doctor/finding.hpp"

namespace hindsight::doctor {

/// The API server, and who we are to it.
struct ServerFacts {
  std::string address;
  std::string unreachable;  ///< Why nothing came; empty: it answers.
  bool refuses_us = false;  ///< It answers, and does not know who we are.
  std::string version;      ///< "v1.36.0"
  std::string major, minor;
  std::string user;
  std::vector<std::string> groups;
};

[[nodiscard]] Outcome judge_server(const ServerFacts& facts, const Commands& commands);
[[nodiscard]] Outcome examine_server(Context& context);

}  // namespace hindsight::doctor
