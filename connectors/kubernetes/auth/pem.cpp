#include "connectors/kubernetes/auth/pem.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstddef>
#include <memory>

namespace hindsight::connectors::kubernetes {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Bio bio_of(const std::string& text) { return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free}; }

Certificate next_certificate(BIO* from) { return {PEM_read_bio_X509(from, nullptr, nullptr, nullptr), &X509_free}; }

/// There is nobody to ask for one.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*is_for_writing*/, void* /*unused*/) { return 0; }

}  // namespace

bool holds_certificates(const std::string& pem) {
  const Bio text = bio_of(pem);
  std::size_t count = 0;
  while (text && next_certificate(text.get())) ++count;
  // The end shows itself as "no start line"; anything else is damage.
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  return count > 0 && at_end;
}

bool are_strangers(const std::string& certificate_pem, const std::string& key_pem) {
  const Bio certificate_text = bio_of(certificate_pem);
  const Bio key_text = bio_of(key_pem);
  if (!certificate_text || !key_text) return false;
  const Certificate certificate = next_certificate(certificate_text.get());
  const Key key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, &no_passphrase, nullptr), &EVP_PKEY_free);
  const bool out = certificate && key && X509_check_private_key(certificate.get(), key.get()) != 1;
  ERR_clear_error();
  return out;
}

}  // namespace hindsight::connectors::kubernetes
