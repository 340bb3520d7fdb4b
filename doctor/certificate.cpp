#include "doctor/certificate.hpp"

#include <ctime>
#include <memory>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "operations/openssl_owner.hpp"
#include "operations/self_signed.hpp"

namespace hindsight::doctor {
namespace {

using operations::bytes_of;
using operations::OpensslOwner;

struct FreeX509Parts {
  void operator()(X509_STORE* p) const { X509_STORE_free(p); }
  void operator()(X509_STORE_CTX* p) const { X509_STORE_CTX_free(p); }
};
template <class T>
using X509Part = std::unique_ptr<T, FreeX509Parts>;

std::vector<OpensslOwner<X509>> certificates_in(const std::string& pem, std::size_t max) {
  std::vector<OpensslOwner<X509>> out;
  const auto bytes = bytes_of(pem);
  while (bytes && out.size() < max) {
    OpensslOwner<X509> one(PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr));
    if (!one) break;
    out.push_back(std::move(one));
  }
  ERR_clear_error();
  return out;
}

std::string pem_of(X509* certificate) {
  const OpensslOwner<BIO> out(BIO_new(BIO_s_mem()));
  if (!out || PEM_write_bio_X509(out.get(), certificate) != 1) return {};
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

std::string subject_of_certificate(X509* certificate) {
  const OpensslOwner<BIO> out(BIO_new(BIO_s_mem()));
  if (!out || X509_NAME_print_ex(out.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253) < 0) return {};
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

std::string fingerprint_of(X509* certificate) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (X509_digest(certificate, EVP_sha256(), digest, &size) != 1) return {};
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (unsigned int i = 0; i < size; ++i) {
    out += digits[digest[i] >> 4U];
    out += digits[digest[i] & 15U];
  }
  return out;
}

}  // namespace

Result<std::vector<CertificateView>> read_certificates(const std::string& pem, std::size_t max) {
  std::vector<CertificateView> out;
  for (const auto& one : certificates_in(pem, max)) {
    const auto facts = operations::read_certificate(pem_of(one.get()));
    if (!facts) return tl::unexpected(facts.error());
    out.push_back({subject_of_certificate(one.get()), facts->not_before, facts->not_after, facts->names, fingerprint_of(one.get())});
  }
  if (out.empty()) return fail(ErrorKind::invalid, "found no certificate; allowed: certificates in PEM");
  return out;
}

std::string refusal_of_certificate(const std::string& authorities_pem, const std::string& certificate_pem, const std::string& name,
                                   Time now) {
  constexpr std::size_t chain_max = 64;
  const auto chain = certificates_in(certificate_pem, chain_max);
  if (chain.empty()) return "it is no certificate in PEM";
  const X509Part<X509_STORE> store(X509_STORE_new());
  const X509Part<X509_STORE_CTX> verification(X509_STORE_CTX_new());
  if (!store || !verification) return {};
  const auto authorities = certificates_in(authorities_pem, chain_max);
  if (authorities.empty()) return "nobody is trusted: there is no authority";
  for (const auto& one : authorities) X509_STORE_add_cert(store.get(), one.get());
  STACK_OF(X509)* between = sk_X509_new_null();
  for (std::size_t i = 1; i < chain.size(); ++i) sk_X509_push(between, chain[i].get());
  std::string out;
  if (X509_STORE_CTX_init(verification.get(), store.get(), chain.front().get(), between) == 1) {
    X509_VERIFY_PARAM* wishes = X509_STORE_CTX_get0_param(verification.get());
    X509_VERIFY_PARAM_set_time(wishes, static_cast<time_t>(now.floor_seconds()));
    // As Go does: who is trusted need not be the end of a chain.
    X509_VERIFY_PARAM_set_flags(wishes, X509_V_FLAG_PARTIAL_CHAIN);
    if (!name.empty()) {
      if (X509_VERIFY_PARAM_set1_ip_asc(wishes, name.c_str()) != 1) X509_VERIFY_PARAM_set1_host(wishes, name.c_str(), name.size());
    }
    if (X509_verify_cert(verification.get()) != 1) out = X509_verify_cert_error_string(X509_STORE_CTX_get_error(verification.get()));
  }
  sk_X509_free(between);
  ERR_clear_error();
  return out;
}

}  // namespace hindsight::doctor
