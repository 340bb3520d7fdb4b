#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "doctor/cluster_reader.hpp"
#include "doctor/commands.hpp"
#include "doctor/installation.hpp"

namespace hindsight::doctor {

/// What `hindsight doctor` is asked for; cli/doctor.cpp says what each means.
struct Options {
  std::string kubeconfig, context, namespace_;
  std::string account;  ///< "NAMESPACE/NAME" of the service account whose rights are looked at; empty: that of the Deployment, or our own.
  bool own_rights = false;
  std::string log, log_config, log_limit, config, feature_gates, server;
  std::vector<std::string> only;                                 ///< Names of checks; empty: all.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);  ///< For each check.
  std::size_t objects_max = 5000;                                ///< Of each kind that is looked at.
};

/// What a check has to look with.
struct Context {
  Options options;
  Commands commands;
  ClusterReader* cluster = nullptr;  ///< Null: `no_cluster` says why.
  std::string no_cluster;
  Installation installation;
  std::string no_installation;  ///< Why it could not be looked for; empty: it was.

  /// The server's time, if it told it, else ours.
  [[nodiscard]] Time now() const;
};

/// As the machine's clock says.
[[nodiscard]] Time machine_time();

/// "3 objects", "1 object".
[[nodiscard]] std::string counted(std::size_t count, const std::string& one, const std::string& many);
/// "a, b, c and 4 more".
[[nodiscard]] std::string some_of(const std::vector<std::string>& all, std::size_t shown);
/// "2d", "3h", "12m", "40s"; of a time that has passed or will come.
[[nodiscard]] std::string rough(Duration duration);

}  // namespace hindsight::doctor
