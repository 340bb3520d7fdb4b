#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>

#include "connectors/kubernetes/auth/connection.hpp"
#include "vocabulary/result.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors::kubernetes {

/// The status of an ExecCredential (client.authentication.k8s.io).
struct ExecCredential {
  std::string token;
  std::string client_certificate_pem;
  std::string client_key_pem;
  Time expires = Time::never();
};

/// Reads what a credential command printed. `what` names the command in errors; secrets are never part of a message.
[[nodiscard]] Result<ExecCredential> parse_exec_credential(std::string_view text, const std::string& api_version, const std::string& what);

/// Runs the credential command of `connection.user.exec` and reads its answer. Blocks; the command is killed after `time_limit` or when
/// `stop` is requested, and what it started goes with it in any case. It may print 1 MiB; the first 16 KiB of its standard error become
/// ours. KUBERNETES_EXEC_INFO tells it the version and, if asked for, the cluster.
[[nodiscard]] Result<ExecCredential> run_exec_plugin(const Connection& connection, std::chrono::milliseconds time_limit,
                                                     const std::stop_token& stop = {});

}  // namespace hindsight::connectors::kubernetes
