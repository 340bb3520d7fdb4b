#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "doctor/context.hpp"
#include "doctor/finding.hpp"
#include "doctor/service_reach.hpp"

namespace hindsight::doctor {

/// One webhook of a configuration that concerns us: ours, or one that is asked about what we look after.
struct WebhookFacts {
  bool mutating = false;
  std::string configuration, name;
  std::size_t index = 0;  ///< Its place in the configuration.
  bool ours = false;      ///< By the name of the configuration.
  std::string failure_policy;
  std::int64_t timeout_seconds = 10;
  Callee callee;
  Reach reach;
};

struct WebhooksFacts {
  std::vector<WebhookFacts> all;
  Installation installation;
  std::string secret;              ///< Of our certificates.
  bool secret_there = false;       ///< And readable.
  std::string secret_authorities;  ///< Its ca.crt, PEM.
  std::string missing_names;       ///< Of our webhooks that deploy/webhooks.yaml has and the cluster does not: "mjob.kb.io, ...".
};

/// Whether two PEM texts hold the same certificates, whatever their order and white space.
[[nodiscard]] bool same_authorities(const std::string& a, const std::string& b);

[[nodiscard]] Outcome judge_webhooks(const WebhooksFacts& facts, const Commands& commands);
[[nodiscard]] Outcome examine_webhooks(Context& context);

}  // namespace hindsight::doctor
