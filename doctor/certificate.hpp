#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "vocabulary/result.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::doctor {

/// What a certificate says of itself.
struct CertificateView {
  std::string subject;
  Time not_before, not_after;
  std::vector<std::string> names;  ///< DNS names and addresses.
  std::string fingerprint;         ///< SHA-256 of its bytes, hexadecimal.
};

/// All certificates of a PEM text, at most so many. Errors: invalid (there is none, or one does not read).
[[nodiscard]] Result<std::vector<CertificateView>> read_certificates(const std::string& pem, std::size_t max = 64);

/// Why a client that trusts these authorities and expects `name` would refuse this certificate at that time; empty: it takes it. `name`
/// may be empty: any will do.
[[nodiscard]] std::string refusal_of_certificate(const std::string& authorities_pem, const std::string& certificate_pem,
                                                 const std::string& name, Time now);

}  // namespace hindsight::doctor
