#pragma once

#include <string>
#include <vector>

#include "vocabulary/result.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::operations {

/// A certificate with its key, both PEM.
struct CertificatePair {
  std::string certificate, key;
};

/// An authority of our own and what it has signed for a server. Empty texts: not there yet.
struct SelfSigned {
  std::string authorities;  ///< PEM. The one that signs comes first; those before it follow as long as somebody may still show their work.
  std::string authority_key;  ///< Of the first.
  CertificatePair serving;

  friend bool operator==(const SelfSigned& a, const SelfSigned& b) {
    return a.authorities == b.authorities && a.authority_key == b.authority_key && a.serving.certificate == b.serving.certificate &&
           a.serving.key == b.serving.key;
  }
};

struct SelfSignedWish {
  std::vector<std::string> names;                          ///< DNS names and IP addresses of the server.
  Duration lifetime = Duration::seconds(365 * 24 * 3600);  ///< Of a serving certificate.
  Duration authority_lifetime = Duration::seconds(3650LL * 24 * 3600);
};

/// What is to be used from `now` on: `present` where it is good, else with what is missing, does not read, does not belong together, lacks
/// a name, or has less than a third of its time left, made anew (keys on P-256). Errors: io, when the library cannot make keys.
[[nodiscard]] Result<SelfSigned> keep_fresh(const SelfSigned& present, const SelfSignedWish& wish, Time now);

/// What a certificate says of itself.
struct CertificateFacts {
  Time not_before, not_after;
  std::vector<std::string> names;
};
/// The first certificate of a PEM text. Errors: invalid.
[[nodiscard]] Result<CertificateFacts> read_certificate(const std::string& pem);

}  // namespace hindsight::operations
