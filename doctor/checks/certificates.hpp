#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/context.hpp"
#include "doctor/finding.hpp"

namespace hindsight::doctor {

/// Where our certificates are.
struct SecretNames {
  std::string webhooks, visibility;
};
[[nodiscard]] SecretNames secret_names(const Context& context);

/// A Secret with a certificate that a server of ours shows.
struct SecretFacts {
  std::string name, namespace_, service;  ///< `service`: by whose name the API server calls.
  bool used = false;                      ///< Something has the API server call there.
  bool there = false;
  std::string unreadable;            ///< Why it could not be read; empty: it could.
  std::string serving, authorities;  ///< tls.crt and ca.crt, PEM.
};

/// A bundle of authorities that the API server trusts.
struct BundleFacts {
  std::string object;       ///< "APIService v1beta2.visibility.kueue.x-k8s.io"
  std::string authorities;  ///< PEM.
  std::string shown_by;     ///< The Secret whose certificate it has to trust; empty: not known.
  std::string removal;      ///< What takes it away, without kubectl.
  std::string patch;        ///< What writes spec.caBundle, up to the text of the patch; empty: who is asked there tells of it.
};

struct CertificatesFacts {
  std::vector<SecretFacts> secrets;
  std::vector<BundleFacts> bundles;
  Time now;
};

[[nodiscard]] Outcome judge_certificates(const CertificatesFacts& facts, const Commands& commands);
[[nodiscard]] Outcome examine_certificates(Context& context);

}  // namespace hindsight::doctor
