#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "doctor/cluster_reader.hpp"
#include "doctor/commands.hpp"
#include "doctor/finding.hpp"
#include "doctor/installation.hpp"

namespace hindsight::doctor {

/// Who answers when the API server calls: behind a Service, or at an address.
struct Callee {
  std::string url;  ///< Else the Service.
  std::string service, namespace_;
  std::int64_t port = 443;
  std::string authorities;         ///< PEM of caBundle; empty: those of the API server's machine.
  bool bundle_unreadable = false;  ///< caBundle holds something that is no base64.

  /// "Service hindsight-system/hindsight-webhook-service", "https://10.0.0.1:9443"
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Callee&, const Callee&) = default;
};

/// Reads a clientConfig of a webhook, or the spec of an APIService.
[[nodiscard]] Callee callee_of(const Json& client);

/// What is behind it.
struct Reach {
  bool known = false;  ///< Whether it could be looked at; `why` says why not.
  std::string why;
  bool service_there = true;
  std::size_t ready = 0;      ///< Endpoints that take calls.
  std::size_t not_ready = 0;  ///< And that do not.
  std::string refused;        ///< Why nobody answers at the address, as seen from here; empty: somebody does.
};

[[nodiscard]] Reach look_behind(ClusterReader& cluster, const Callee& callee, std::chrono::milliseconds time_limit);

/// Why nobody can answer; empty: somebody can, as far as is known.
[[nodiscard]] std::string unanswered(const Callee& callee, const Reach& reach);

/// What to do where nobody answers for our own parts. `flag`: the option of `hindsight run` that serves it; `manifest`: which has the
/// Service; `removal`: the command that stops the API server from asking. Fills in advice and command.
void advise_on_silence(Finding& finding, const Callee& callee, const Reach& reach, const Installation& installation,
                       const std::string& flag, const std::string& manifest, const std::string& removal, const Commands& commands);

}  // namespace hindsight::doctor
