#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/checkpoint.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::evidence {

// Keys are Ed25519, in PEM files, as `hindsight log key` and `openssl genpkey -algorithm ed25519` make them. They do not expire: when a
// key is to be trusted is decided by whoever names it to a check.

inline constexpr std::size_t signature_bytes = 64;
inline constexpr std::size_t key_id_digits = 32;
/// A longer file is no key.
inline constexpr std::size_t key_file_bytes_max = 64 * 1024;

/// 32 hexadecimal digits, in small letters.
[[nodiscard]] bool is_key_id(std::string_view text);

struct KeyHandle;

/// A key that signatures are checked with.
class PublicKey {
 public:
  /// Reads PEM text. `name` is for messages. Errors: invalid (no PEM, no Ed25519, or a private key).
  [[nodiscard]] static Result<PublicKey> parse(std::string_view pem, const std::string& name);
  /// Reads a PEM file. Errors: also not_found, denied, io.
  [[nodiscard]] static Result<PublicKey> read(const std::string& file);

  /// The first 32 hexadecimal digits of SHA-256 over the key in DER (SubjectPublicKeyInfo).
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] std::string pem() const;
  /// Whether this key has signed that checkpoint.
  [[nodiscard]] bool verifies(const Checkpoint& checkpoint) const;

 private:
  friend class SigningKey;
  PublicKey(std::shared_ptr<const KeyHandle> key, std::string id) : key_(std::move(key)), id_(std::move(id)) {}
  std::shared_ptr<const KeyHandle> key_;
  std::string id_;
};

/// A key that signs.
class SigningKey {
 public:
  /// Reads PEM text. Errors: invalid (no PEM, no Ed25519, a public key, or one that is encrypted, which nobody could open here).
  [[nodiscard]] static Result<SigningKey> parse(std::string_view pem, const std::string& name);
  /// Reads a PEM file. Errors: also not_found, denied, io.
  [[nodiscard]] static Result<SigningKey> read(const std::string& file);
  /// A new one, from the system's randomness. Errors: io.
  [[nodiscard]] static Result<SigningKey> make();

  [[nodiscard]] const PublicKey& public_key() const { return public_; }
  /// PKCS #8, not encrypted.
  [[nodiscard]] std::string pem() const;
  /// Sets key and signature of a checkpoint of good form. Errors: invalid (its form), io.
  [[nodiscard]] Result<void> sign(Checkpoint& checkpoint) const;

 private:
  explicit SigningKey(PublicKey key) : public_(std::move(key)) {}
  PublicKey public_;
};

/// The key that has signed the checkpoint; nullptr: none of these.
[[nodiscard]] const PublicKey* signer_of(const Checkpoint& checkpoint, const std::vector<PublicKey>& keys);

}  // namespace hindsight::evidence
