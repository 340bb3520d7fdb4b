#include "evidence/chain.hpp"

#include <openssl/evp.h>

#include <bit>
#include <new>
#include <stdexcept>

namespace hindsight::evidence {
namespace {

constexpr std::string_view record_label = "hindsight record 1\n";
constexpr std::string_view chain_label = "hindsight chain 1\n";

constexpr std::string_view digits = "0123456789abcdef";

/// OpenSSL fails here only without memory, or where SHA-256 was configured away: nothing can be proved then.
void must(int done) {
  if (done != 1) throw std::runtime_error("OpenSSL does not compute SHA-256");
}

/// Looked up once: to look it up for each hash takes longer than a short hash does.
const EVP_MD* algorithm() {
  static EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return fetched != nullptr ? fetched : EVP_sha256();
}

}  // namespace

std::string hex(const Digest& digest) {
  std::string out;
  out.reserve(2 * digest.size());
  for (const std::uint8_t byte : digest) {
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

std::optional<Digest> parse_digest(std::string_view text) {
  Digest out{};
  if (text.size() != 2 * out.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto value = digits.find(text[i]);
    if (value == std::string_view::npos) return std::nullopt;
    out[i / 2] = static_cast<std::uint8_t>(std::size_t{out[i / 2]} << 4 | value);
  }
  return out;
}

// ---- SHA-256 --------------------------------------------------------------------------------------------------------------

struct Sha256::Context {
  EVP_MD_CTX* raw = EVP_MD_CTX_new();
  Context() {
    if (raw == nullptr) throw std::bad_alloc();
  }
  ~Context() { EVP_MD_CTX_free(raw); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

Sha256::Sha256() : context_(std::make_unique<Context>()) { must(EVP_DigestInit_ex2(context_->raw, algorithm(), nullptr)); }

Sha256::~Sha256() = default;

Sha256& Sha256::add(std::span<const std::byte> bytes) {
  must(EVP_DigestUpdate(context_->raw, bytes.data(), bytes.size()));
  return *this;
}

Sha256& Sha256::add(std::uint64_t number) {
  std::array<std::byte, sizeof number> bytes;
  for (auto& byte : bytes) {
    byte = static_cast<std::byte>(number & 0xFF);
    number >>= 8;
  }
  return add(bytes);
}

Digest Sha256::finish() {
  Digest out{};
  unsigned size = 0;
  must(EVP_DigestFinal_ex(context_->raw, out.data(), &size));
  must(EVP_DigestInit_ex2(context_->raw, algorithm(), nullptr));
  return out;
}

Digest sha256(std::span<const std::byte> bytes) { return Sha256().add(bytes).finish(); }

// ---- the chain ------------------------------------------------------------------------------------------------------------

Head genesis(std::uint64_t begin) { return {begin, begin, Sha256().add(chain_label).add(begin).finish()}; }

Digest Chain::content(const Content& record) {
  sha256_.add(record_label).add(std::uint64_t{record.domain.size()}).add(record.domain);
  sha256_.add(record.sequence).add(record.epoch).add(static_cast<std::uint64_t>(record.time.micros));
  return sha256_.add(std::uint64_t{record.bytes.size()}).add(record.bytes).finish();
}

void Chain::add(const Digest& content) {
  head_.hash = sha256_.add(head_.hash).add(content).finish();
  ++head_.records;
}

}  // namespace hindsight::evidence
