// Keys and signatures: what is read, what is refused, and that a signature stands for everything that a checkpoint says.

#include "evidence/keys.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include <functional>

#include "tests/evidence/made_evidence.hpp"

namespace hindsight::evidence {
namespace {

/// From RFC 8410, 10.3 and 10.1, where they stand as a pair.
constexpr const char* rfc_private =
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
constexpr const char* rfc_public =
    "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";

Checkpoint some_checkpoint() {
  return {.position = 12,
          .head = {.begin = 0, .records = 12, .hash = genesis().hash},
          .time = Time{1'795'788'000'000'000},
          .release = "0.1.0",
          .key = {},
          .signature = {}};
}

std::string why_public(std::string_view pem) {
  const auto key = PublicKey::parse(pem, "key.pem");
  return key ? "taken" : key.error().message;
}

std::string why_private(std::string_view pem) {
  const auto key = SigningKey::parse(pem, "key.pem");
  return key ? "taken" : key.error().message;
}

/// A key of another kind in PEM.
std::string rsa_pem(bool is_private) {
  EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{1024});
  BIO* bio = BIO_new(BIO_s_mem());
  if (is_private)
    PEM_write_bio_PKCS8PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  else
    PEM_write_bio_PUBKEY(bio, key);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string out(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  EVP_PKEY_free(key);
  return out;
}

TEST(EvidenceKeys, APairOfTheStandardIsReadAndBelongsTogether) {
  const auto secret = SigningKey::parse(rfc_private, "key.pem");
  ASSERT_TRUE(secret) << secret.error().message;
  const auto open = PublicKey::parse(rfc_public, "key.pub.pem");
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_EQ(secret->public_key().id(), open->id());
  EXPECT_TRUE(is_key_id(open->id()));
  EXPECT_EQ(open->pem(), rfc_public);
  EXPECT_EQ(secret->public_key().pem(), rfc_public);
  EXPECT_EQ(secret->pem(), rfc_private);
  auto c = some_checkpoint();
  ASSERT_TRUE(secret->sign(c));
  EXPECT_EQ(c.key, open->id());
  EXPECT_EQ(c.signature.size(), signature_bytes);
  EXPECT_TRUE(open->verifies(c));
}

TEST(EvidenceKeys, AMadeKeyIsReadAgain) {
  const auto key = SigningKey::make();
  ASSERT_TRUE(key) << key.error().message;
  const auto again = SigningKey::parse(key->pem(), "again");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->public_key().id(), key->public_key().id());
  EXPECT_NE(SigningKey::make()->public_key().id(), key->public_key().id());
}

TEST(EvidenceKeys, ASignatureStandsForEverythingThatACheckpointSays) {
  const auto key = test::made_key();
  auto good = some_checkpoint();
  ASSERT_TRUE(key.sign(good));
  const std::vector<std::function<void(Checkpoint&)>> changes{
      [](Checkpoint& c) { ++c.head.records; },       [](Checkpoint& c) { ++c.head.begin; },
      [](Checkpoint& c) { c.head.hash[31] ^= 1; },   [](Checkpoint& c) { ++c.time.micros; },
      [](Checkpoint& c) { c.release = "0.1.1"; },    [](Checkpoint& c) { c.signature[0] ^= 1; },
      [](Checkpoint& c) { c.signature.pop_back(); }, [](Checkpoint& c) { c.signature.clear(); }};
  for (const auto& change : changes) {
    Checkpoint c = good;
    change(c);
    EXPECT_FALSE(key.public_key().verifies(c)) << signed_text(c);
  }
  Checkpoint moved = good;
  moved.position = 999;  // differs in a copy of the log
  EXPECT_TRUE(key.public_key().verifies(moved));
  EXPECT_FALSE(test::made_key().public_key().verifies(good));
  EXPECT_EQ(signer_of(good, {test::made_key().public_key()}), nullptr);
  const std::vector<PublicKey> keys{test::made_key().public_key(), key.public_key()};
  EXPECT_EQ(signer_of(good, keys), &keys[1]);
}

TEST(EvidenceKeys, WhatIsSignedIsTextThatStaysTheSameForEver) {
  EXPECT_EQ(signed_text(some_checkpoint()),
            "hindsight checkpoint 1\nbegin 0\nrecords 12\nhash " + hex(genesis().hash) + "\ntime 1795788000000000\nrelease 0.1.0\n");
}

TEST(EvidenceKeys, WhatIsNoKeyIsRefusedWithWhatIsAllowed) {
  for (const std::string& bad :
       {std::string(), std::string("no key"), std::string("-----BEGIN PUBLIC KEY-----\n!!!!\n-----END PUBLIC KEY-----\n"),
        std::string("-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9E\n-----END PUBLIC KEY-----\n"), std::string(100'000, '\0')}) {
    EXPECT_NE(why_public(bad).find("key key.pem: found no public key in PEM, or a damaged one; allowed: an Ed25519 public key"),
              std::string::npos);
    EXPECT_NE(why_private(bad).find("key key.pem: found no private key in PEM, or a damaged one; allowed: an Ed25519 private key"),
              std::string::npos);
  }
  EXPECT_NE(why_public(rfc_private).find("found a private key; allowed: an Ed25519 public key"), std::string::npos);
  EXPECT_NE(why_private(rfc_public).find("found no private key"), std::string::npos);
  EXPECT_NE(why_public(rsa_pem(false)).find("found a key of kind RSA"), std::string::npos) << why_public(rsa_pem(false));
  EXPECT_NE(why_private(rsa_pem(true)).find("found a key of kind RSA"), std::string::npos) << why_private(rsa_pem(true));
}

/// Nobody is asked for a passphrase: a program that runs unwatched would wait for ever.
TEST(EvidenceKeys, AnEncryptedKeyIsRefusedWithoutAQuestion) {
  EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  BIO* bio = BIO_new(BIO_s_mem());
  unsigned char word[] = "secret";
  ASSERT_EQ(PEM_write_bio_PKCS8PrivateKey(bio, key, EVP_aes_256_cbc(), reinterpret_cast<char*>(word), 6, nullptr, nullptr), 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  const std::string pem(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  EVP_PKEY_free(key);
  EXPECT_NE(why_private(pem).find("found an encrypted key; allowed: an Ed25519 private key in PEM that is not encrypted"),
            std::string::npos)
      << why_private(pem);
}

TEST(EvidenceKeys, FilesAreReadWithinBounds) {
  const test::TemporaryFolder folder;
  test::write_file(folder.file("good.pem"), rfc_public);
  EXPECT_TRUE(PublicKey::read(folder.file("good.pem")));
  const auto none = PublicKey::read(folder.file("none.pem"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::not_found);
  test::write_file(folder.file("large.pem"), rfc_public + std::string(key_file_bytes_max, '\n'));
  const auto large = PublicKey::read(folder.file("large.pem"));
  ASSERT_FALSE(large);
  EXPECT_NE(large.error().message.find("more than 65536 bytes"), std::string::npos) << large.error().message;
  test::write_file(folder.file("full.pem"), rfc_public + std::string(key_file_bytes_max - std::string(rfc_public).size(), '\n'));
  EXPECT_TRUE(PublicKey::read(folder.file("full.pem")));
  EXPECT_FALSE(PublicKey::read(folder.path().string()));  // a folder
}

TEST(EvidenceKeys, ACheckpointOfNoFormIsNotSigned) {
  const auto key = test::made_key();
  const std::vector<std::pair<std::string, std::function<void(Checkpoint&)>>> changes{
      {"release", [](Checkpoint& c) { c.release = "0.1\nrecords 99"; }},
      {"release", [](Checkpoint& c) { c.release = std::string(release_bytes_max + 1, 'a'); }},
      {"begins behind record 13", [](Checkpoint& c) { c.head.begin = 13; }}};
  for (const auto& [part, change] : changes) {
    auto c = some_checkpoint();
    change(c);
    const auto done = key.sign(c);
    ASSERT_FALSE(done) << part;
    EXPECT_EQ(done.error().kind, ErrorKind::invalid);
    EXPECT_NE(done.error().message.find(part), std::string::npos) << done.error().message;
    EXPECT_FALSE(c.is_signed());
  }
  auto longest = some_checkpoint();
  longest.release = std::string(release_bytes_max, 'a');
  EXPECT_TRUE(key.sign(longest));
}

}  // namespace
}  // namespace hindsight::evidence
