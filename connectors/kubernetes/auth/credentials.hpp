#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "connectors/kubernetes/auth/connection.hpp"
#include "vocabulary/result.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors::kubernetes {

/// What requests carry to prove who we are, and how to see that it is out of date.
struct Credential {
  std::vector<std::string> headers;  ///< "Authorization: Bearer ...", "Impersonate-User: ...".
  std::string client_certificate_pem;
  std::string client_key_pem;
  Time expires = Time::never();
  std::string files_seen;  ///< State of the files that it was read from (inode, size, time of change).
};

/// Reads credentials from where the kubeconfig says they are. Has no state of its own, so any thread may call it.
class Credentials {
 public:
  explicit Credentials(Connection connection, std::chrono::milliseconds exec_time_limit = std::chrono::seconds(60))
      : connection_(std::move(connection)), exec_time_limit_(exec_time_limit) {}

  /// Reads files, runs the command. Blocks as long as the command takes, which a stop ends.
  [[nodiscard]] Result<Credential> load(const std::stop_token& stop = {}) const;
  /// Whether `load` may take long.
  [[nodiscard]] bool runs_command() const { return connection_.user.exec.has_value(); }
  /// Whether `load` can give something else than before: else a refusal by the server is final.
  [[nodiscard]] bool can_change() const;
  /// Whether the files that `credential` was read from are others now.
  [[nodiscard]] bool files_changed(const Credential& credential) const;
  [[nodiscard]] const Connection& connection() const { return connection_; }

 private:
  [[nodiscard]] std::string state_of_files() const;

  Connection connection_;
  std::chrono::milliseconds exec_time_limit_;
};

}  // namespace hindsight::connectors::kubernetes
