#pragma once

#include <memory>
#include <string>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>

namespace hindsight::operations {

/// Owns what OpenSSL gave; for source files only.
struct OpensslFree {
  void operator()(BIO* p) const { BIO_free_all(p); }
  void operator()(X509* p) const { X509_free(p); }
  void operator()(X509_EXTENSION* p) const { X509_EXTENSION_free(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(GENERAL_NAMES* p) const { GENERAL_NAMES_free(p); }
};
template <class T>
using OpensslOwner = std::unique_ptr<T, OpensslFree>;

/// The bytes of `text`, which must live as long, as OpenSSL reads them.
[[nodiscard]] inline OpensslOwner<BIO> bytes_of(const std::string& text) {
  return OpensslOwner<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

}  // namespace hindsight::operations
