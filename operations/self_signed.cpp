#include "operations/self_signed.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include <arpa/inet.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "operations/openssl_owner.hpp"
#include "operations/tls.hpp"

namespace hindsight::operations {
namespace {

using Certificate = OpensslOwner<X509>;
using Key = OpensslOwner<EVP_PKEY>;
using Bytes = OpensslOwner<BIO>;

constexpr const char* authority_name = "hindsight-webhook-ca";
constexpr const char* organization = "hindsight";
/// Clocks of a cluster differ by this much.
constexpr Duration clock_skew = Duration::seconds(300);
constexpr std::size_t most_authorities = 3;

std::string text_of(BIO* bytes) {
  char* data = nullptr;
  const auto size = BIO_get_mem_data(bytes, &data);
  return {data, static_cast<std::size_t>(size)};
}

std::vector<Certificate> certificates_of(const std::string& pem) {
  const auto bytes = bytes_of(pem);
  std::vector<Certificate> out;
  while (X509* one = PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr)) out.emplace_back(one);
  ERR_clear_error();
  return out;
}

Key key_of(const std::string& pem) {
  Key key(PEM_read_bio_PrivateKey(bytes_of(pem).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return key;
}

std::string pem_of(X509* certificate) {
  const Bytes bytes(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bytes.get(), certificate);
  return text_of(bytes.get());
}

std::string pem_of(EVP_PKEY* key) {
  const Bytes bytes(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(bytes.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return text_of(bytes.get());
}

Time time_of(const ASN1_TIME* time) {
  // Days and seconds since 1970, without the zone of this machine.
  const std::unique_ptr<ASN1_TIME, decltype(&ASN1_STRING_free)> epoch(ASN1_TIME_set(nullptr, 0), ASN1_STRING_free);
  int days = 0, rest = 0;
  if (ASN1_TIME_diff(&days, &rest, epoch.get(), time) != 1) return Time::from_seconds(0);
  return Time::from_seconds(std::int64_t{days} * 86'400 + rest);
}

bool is_address(const std::string& name) {
  std::array<unsigned char, 16> address{};
  return ::inet_pton(AF_INET, name.c_str(), address.data()) == 1 || ::inet_pton(AF_INET6, name.c_str(), address.data()) == 1;
}

std::vector<std::string> names_of(X509* certificate) {
  std::vector<std::string> out;
  const OpensslOwner<GENERAL_NAMES> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) {
      out.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                       static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else if (name->type == GEN_IPADD) {
      std::array<char, INET6_ADDRSTRLEN> text{};
      const int family = ASN1_STRING_length(name->d.iPAddress) == 4 ? AF_INET : AF_INET6;
      if (::inet_ntop(family, ASN1_STRING_get0_data(name->d.iPAddress), text.data(), text.size()) != nullptr) out.emplace_back(text.data());
    }
  }
  return out;
}

/// At least a third of its time is left.
bool is_young(X509* certificate, Time now) {
  const Time begin = time_of(X509_get0_notBefore(certificate)), end = time_of(X509_get0_notAfter(certificate));
  return begin <= now && (end - now).micros >= (end - begin).micros / 3;
}

bool add_extension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const OpensslOwner<X509_EXTENSION> extension(X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

/// What all certificates of ours have; not signed.
Certificate blank(const char* name, EVP_PKEY* key, Time begin, Time end) {
  Certificate out(X509_new());
  std::array<unsigned char, 16> serial{};
  if (!out || RAND_bytes(serial.data(), static_cast<int>(serial.size())) != 1) return nullptr;
  serial[0] &= 0x7f;
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> number(BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr), BN_free);
  X509_NAME* subject = X509_get_subject_name(out.get());
  const bool done =
      BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(out.get())) != nullptr && X509_set_version(out.get(), 2) == 1 &&
      ASN1_TIME_set(X509_getm_notBefore(out.get()), begin.floor_seconds()) != nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(out.get()), end.floor_seconds()) != nullptr &&
      X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(organization), -1, -1, 0) == 1 &&
      X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(name), -1, -1, 0) == 1 &&
      X509_set_pubkey(out.get(), key) == 1;
  return done ? std::move(out) : nullptr;
}

tl::unexpected<Error> cannot_make() { return fail(ErrorKind::io, "webhook certificate: cannot be made: " + take_tls_error()); }

Result<CertificatePair> make_authority(const SelfSignedWish& wish, Time now) {
  const Key key(EVP_EC_gen("P-256"));
  if (!key) return cannot_make();
  const Certificate certificate = blank(authority_name, key.get(), now - clock_skew, now + wish.authority_lifetime);
  const bool done = certificate && X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get())) == 1 &&
                    add_extension(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                    add_extension(certificate.get(), certificate.get(), NID_key_usage, "critical,keyCertSign,digitalSignature") &&
                    add_extension(certificate.get(), certificate.get(), NID_subject_key_identifier, "hash") &&
                    X509_sign(certificate.get(), key.get(), EVP_sha256()) != 0;
  if (!done) return cannot_make();
  return CertificatePair{pem_of(certificate.get()), pem_of(key.get())};
}

Result<CertificatePair> make_serving(X509* authority, EVP_PKEY* authority_key, const SelfSignedWish& wish, Time now) {
  const Key key(EVP_EC_gen("P-256"));
  if (!key) return cannot_make();
  std::string names;
  for (const auto& name : wish.names) names.append(names.empty() ? "" : ",").append(is_address(name) ? "IP:" : "DNS:").append(name);
  const Time end = std::min(now + wish.lifetime, time_of(X509_get0_notAfter(authority)));
  // Begins when it is made, so that a short life is not spent on the skew of clocks; its authority was there before.
  const Time begin = std::max(now - std::min(clock_skew, Duration{wish.lifetime.micros / 20}), time_of(X509_get0_notBefore(authority)));
  const Certificate certificate = blank("hindsight-webhook", key.get(), begin, end);
  const bool done = certificate && X509_set_issuer_name(certificate.get(), X509_get_subject_name(authority)) == 1 &&
                    add_extension(certificate.get(), authority, NID_basic_constraints, "critical,CA:FALSE") &&
                    add_extension(certificate.get(), authority, NID_key_usage, "critical,digitalSignature") &&
                    add_extension(certificate.get(), authority, NID_ext_key_usage, "serverAuth") &&
                    add_extension(certificate.get(), authority, NID_authority_key_identifier, "keyid") &&
                    add_extension(certificate.get(), authority, NID_subject_alt_name, names) &&
                    X509_sign(certificate.get(), authority_key, EVP_sha256()) != 0;
  if (!done) return cannot_make();
  return CertificatePair{pem_of(certificate.get()), pem_of(key.get())};
}

bool is_good_authority(const std::vector<Certificate>& authorities, const Key& key, Time now) {
  return !authorities.empty() && key && X509_check_ca(authorities.front().get()) != 0 &&
         X509_check_private_key(authorities.front().get(), key.get()) == 1 && is_young(authorities.front().get(), now);
}

bool is_good_serving(const CertificatePair& serving, const std::vector<Certificate>& authorities, const SelfSignedWish& wish, Time now) {
  const auto certificates = certificates_of(serving.certificate);
  const Key key = key_of(serving.key);
  if (certificates.empty() || !key) return false;
  X509* certificate = certificates.front().get();
  if (X509_check_private_key(certificate, key.get()) != 1 || !is_young(certificate, now)) return false;
  const Key signer(X509_get_pubkey(authorities.front().get()));
  if (!signer || X509_verify(certificate, signer.get()) != 1) return false;
  const auto names = names_of(certificate);
  return std::all_of(wish.names.begin(), wish.names.end(),
                     [&](const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); });
}

}  // namespace

Result<SelfSigned> keep_fresh(const SelfSigned& present, const SelfSignedWish& wish, Time now) {
  SelfSigned out = present;
  auto authorities = certificates_of(present.authorities);
  if (!is_good_authority(authorities, key_of(present.authority_key), now)) {
    auto made = make_authority(wish, now);
    if (!made) return tl::unexpected(made.error());
    out.authority_key = made->key;
    out.authorities = made->certificate;
    std::size_t kept = 1;
    for (const auto& old : authorities)
      if (kept < most_authorities && time_of(X509_get0_notAfter(old.get())) > now) {
        out.authorities += pem_of(old.get());
        ++kept;
      }
    authorities = certificates_of(out.authorities);
  }
  if (!is_good_serving(out.serving, authorities, wish, now)) {
    auto made = make_serving(authorities.front().get(), key_of(out.authority_key).get(), wish, now);
    if (!made) return tl::unexpected(made.error());
    out.serving = std::move(*made);
  }
  ERR_clear_error();
  return out;
}

Result<CertificateFacts> read_certificate(const std::string& pem) {
  const auto certificates = certificates_of(pem);
  if (certificates.empty())
    return fail(ErrorKind::invalid, "certificate: found " + std::to_string(pem.size()) + " bytes that are none; allowed: PEM");
  X509* certificate = certificates.front().get();
  return CertificateFacts{time_of(X509_get0_notBefore(certificate)), time_of(X509_get0_notAfter(certificate)), names_of(certificate)};
}

}  // namespace hindsight::operations
