#include "evidence/keys.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "evidence/chain.hpp"

namespace hindsight::evidence {

struct KeyHandle {
  EVP_PKEY* raw = nullptr;
  explicit KeyHandle(EVP_PKEY* key) : raw(key) {}
  ~KeyHandle() { EVP_PKEY_free(raw); }
  KeyHandle(const KeyHandle&) = delete;
  KeyHandle& operator=(const KeyHandle&) = delete;
};

namespace {

constexpr const char* allowed_private = "; allowed: an Ed25519 private key in PEM that is not encrypted, as 'hindsight log key' makes it";
constexpr const char* allowed_public = "; allowed: an Ed25519 public key in PEM, as 'hindsight log key' prints it";

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

/// The default asks at the terminal.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size <= 0 ? std::string() : std::string(data, static_cast<std::size_t>(size));
}

std::string kind_of(const EVP_PKEY* key) {
  const char* name = EVP_PKEY_get0_type_name(key);
  return name == nullptr ? "unknown" : name;
}

std::string id_of(const KeyHandle& key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key.raw, &der);
  if (size <= 0) return {};
  const Digest digest = sha256(std::as_bytes(std::span(der, static_cast<std::size_t>(size))));
  OPENSSL_free(der);
  std::string out = hex(digest);
  out.resize(key_id_digits);
  return out;
}

bool mentions_private_key(std::string_view pem) { return pem.find("PRIVATE KEY-----") != std::string_view::npos; }

Result<std::string> read_key_file(const std::string& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    const int why = errno;
    const auto kind = why == ENOENT ? ErrorKind::not_found : why == EACCES ? ErrorKind::denied : ErrorKind::io;
    return fail(kind, "key " + file + ": " + std::generic_category().message(why == 0 ? EIO : why));
  }
  std::string out(key_file_bytes_max + 1, '\0');
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  if (in.bad() || (in.fail() && !in.eof())) return fail(ErrorKind::io, "key " + file + ": it cannot be read");
  out.resize(static_cast<std::size_t>(in.gcount()));
  if (out.size() > key_file_bytes_max)
    return fail(ErrorKind::invalid,
                "key " + file + ": it has more than " + std::to_string(key_file_bytes_max) + " bytes; allowed: a file with one key in PEM");
  return out;
}

}  // namespace

bool is_key_id(std::string_view text) {
  return text.size() == key_id_digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// ---- public keys ----------------------------------------------------------------------------------------------------------

Result<PublicKey> PublicKey::parse(std::string_view pem, const std::string& name) {
  if (mentions_private_key(pem)) return fail(ErrorKind::invalid, "key " + name + ": found a private key" + allowed_public);
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(std::min(pem.size(), key_file_bytes_max))));
  bool asked = false;
  EVP_PKEY* raw = bio ? PEM_read_bio_PUBKEY(bio.get(), nullptr, no_passphrase, &asked) : nullptr;
  ERR_clear_error();
  if (raw == nullptr) return fail(ErrorKind::invalid, "key " + name + ": found no public key in PEM, or a damaged one" + allowed_public);
  auto key = std::make_shared<const KeyHandle>(raw);
  if (EVP_PKEY_is_a(raw, "ED25519") != 1)
    return fail(ErrorKind::invalid, "key " + name + ": found a key of kind " + kind_of(raw) + allowed_public);
  std::string id = id_of(*key);
  return PublicKey(std::move(key), std::move(id));
}

Result<PublicKey> PublicKey::read(const std::string& file) {
  const auto pem = read_key_file(file);
  if (!pem) return tl::unexpected(pem.error());
  return parse(*pem, file);
}

std::string PublicKey::pem() const {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!bio || PEM_write_bio_PUBKEY(bio.get(), key_->raw) != 1) return {};
  return text_of(bio.get());
}

bool PublicKey::verifies(const Checkpoint& checkpoint) const {
  if (checkpoint.signature.size() != signature_bytes) return false;
  const Context context(EVP_MD_CTX_new());
  const std::string text = signed_text(checkpoint);
  const bool good = context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_->raw) == 1 &&
                    EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(checkpoint.signature.data()),
                                     checkpoint.signature.size(), reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
  ERR_clear_error();
  return good;
}

const PublicKey* signer_of(const Checkpoint& checkpoint, const std::vector<PublicKey>& keys) {
  const auto it = std::ranges::find_if(keys, [&](const PublicKey& key) { return key.id() == checkpoint.key && key.verifies(checkpoint); });
  return it == keys.end() ? nullptr : &*it;
}

// ---- private keys ---------------------------------------------------------------------------------------------------------

Result<SigningKey> SigningKey::parse(std::string_view pem, const std::string& name) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(std::min(pem.size(), key_file_bytes_max))));
  bool asked = false;
  EVP_PKEY* raw = bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, &asked) : nullptr;
  ERR_clear_error();
  if (raw == nullptr && asked) return fail(ErrorKind::invalid, "key " + name + ": found an encrypted key" + allowed_private);
  if (raw == nullptr) return fail(ErrorKind::invalid, "key " + name + ": found no private key in PEM, or a damaged one" + allowed_private);
  auto key = std::make_shared<const KeyHandle>(raw);
  if (EVP_PKEY_is_a(raw, "ED25519") != 1)
    return fail(ErrorKind::invalid, "key " + name + ": found a key of kind " + kind_of(raw) + allowed_private);
  std::string id = id_of(*key);
  return SigningKey(PublicKey(std::move(key), std::move(id)));
}

Result<SigningKey> SigningKey::read(const std::string& file) {
  auto pem = read_key_file(file);
  if (!pem) return tl::unexpected(pem.error());
  auto key = parse(*pem, file);
  OPENSSL_cleanse(pem->data(), pem->size());
  return key;
}

Result<SigningKey> SigningKey::make() {
  EVP_PKEY* raw = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  ERR_clear_error();
  if (raw == nullptr) return fail(ErrorKind::io, "OpenSSL makes no Ed25519 key");
  auto key = std::make_shared<const KeyHandle>(raw);
  std::string id = id_of(*key);
  return SigningKey(PublicKey(std::move(key), std::move(id)));
}

std::string SigningKey::pem() const {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!bio || PEM_write_bio_PKCS8PrivateKey(bio.get(), public_.key_->raw, nullptr, nullptr, 0, nullptr, nullptr) != 1) return {};
  return text_of(bio.get());
}

Result<void> SigningKey::sign(Checkpoint& checkpoint) const {
  checkpoint.key.clear();
  checkpoint.signature.clear();
  if (auto ok = check_form(checkpoint); !ok) return ok;
  const std::string text = signed_text(checkpoint);
  const Context context(EVP_MD_CTX_new());
  std::string signature(signature_bytes, '\0');
  std::size_t size = signature.size();
  const bool good = context && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, public_.key_->raw) == 1 &&
                    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                                   reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1 &&
                    size == signature_bytes;
  ERR_clear_error();
  if (!good) return fail(ErrorKind::io, "OpenSSL does not sign with key " + public_.id());
  checkpoint.key = public_.id();
  checkpoint.signature = std::move(signature);
  return {};
}

}  // namespace hindsight::evidence
