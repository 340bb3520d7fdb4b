#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "vocabulary/time.hpp"

namespace hindsight::evidence {

// A chain of hashes over the records of a log that count, in the order of the log:
//
//   c = SHA-256("hindsight record 1\n" | length of domain | domain | sequence | epoch | time | length of bytes | bytes)
//   h(begin) = SHA-256("hindsight chain 1\n" | begin)
//   h(n) = SHA-256(h(n-1) | c(n))
//
// Numbers are 64 bits, little-endian. What differs between a log and its copy, offsets above all, is no part of it. Between any two of its
// hashes, the records are fixed; for those that somebody may not see, their hashes c are enough to recompute it.

using Digest = std::array<std::uint8_t, 32>;

/// 64 hexadecimal digits, in small letters.
[[nodiscard]] std::string hex(const Digest& digest);
/// Nothing: it is something else.
[[nodiscard]] std::optional<Digest> parse_digest(std::string_view text);

/// SHA-256 of what is put in, piece by piece; used again after finish().
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  Sha256& add(std::span<const std::byte> bytes);
  Sha256& add(std::string_view text) { return add(std::as_bytes(std::span(text))); }
  Sha256& add(const Digest& digest) { return add(std::as_bytes(std::span(digest))); }
  Sha256& add(std::uint64_t number);
  [[nodiscard]] Digest finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

[[nodiscard]] Digest sha256(std::span<const std::byte> bytes);

/// What the chain covers of a record: all that a log keeps of it but its offset.
struct Content {
  std::string_view domain;
  std::uint64_t sequence = 0;
  std::uint64_t epoch = 0;
  Time time;
  std::span<const std::byte> bytes;  ///< The encoded record.
};

/// Where a chain stands.
struct Head {
  std::uint64_t begin = 0;    ///< It began behind this record: 0, unless older records were gone by then.
  std::uint64_t records = 0;  ///< Number of the last record that it covers, counted from the log's first; `begin`: it covers none.
  Digest hash{};
  friend bool operator==(const Head&, const Head&) = default;
};

/// The head of a chain that covers nothing yet.
[[nodiscard]] Head genesis(std::uint64_t begin = 0);

/// Computes hashes one after another. Not thread-safe.
class Chain {
 public:
  explicit Chain(const Head& head = genesis()) : head_(head) {}

  [[nodiscard]] const Head& head() const { return head_; }
  /// The hash c of a record, which changes nothing.
  [[nodiscard]] Digest content(const Content& record);
  /// Takes the next record, known by its hash c.
  void add(const Digest& content);
  void add(const Content& record) { add(content(record)); }

 private:
  Head head_;
  Sha256 sha256_;
};

}  // namespace hindsight::evidence
