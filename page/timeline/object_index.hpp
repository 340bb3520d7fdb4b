#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "events/log.hpp"
#include "page/timeline/object_tokens.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::page::timeline {

using events::Position;

/// How a domain stands behind some record, as far as whoever leaves records out has to know.
struct StandBehind {
  std::uint64_t sequence = 0, epoch = 0;
  std::uint64_t decided_base = 0;  ///< Of the last decision that counts.
  Time now;
  friend bool operator==(const StandBehind&, const StandBehind&) = default;
};

/// How often others were given quota in a ClusterQueue, by its grant_token.
struct Grants {
  Token queue = 0;
  std::uint32_t count = 0;
  friend bool operator==(const Grants&, const Grants&) = default;
};

/// Some records that follow each other, and which objects they may be about: a filter that says "no" or "perhaps" (B. Bloom, 1970).
class Segment {
 public:
  static constexpr Position records = 1024;  ///< Of the log, other domains included; the first position is 1 behind a multiple of it.
  static constexpr std::size_t words_min = 8;

  /// Makes the filter with one "perhaps" too much in 270 questions.
  Segment(Position block, const std::unordered_set<Token>& tokens, std::vector<Grants> grants, const StandBehind& stand);
  /// As it was.
  Segment(Position block, std::vector<std::uint64_t> bits, std::vector<Grants> grants, const StandBehind& stand)
      : block_(block), bits_(std::move(bits)), grants_(std::move(grants)), stand_(stand) {}

  [[nodiscard]] Position block() const { return block_; }
  [[nodiscard]] Position first() const { return block_ * records + 1; }
  [[nodiscard]] Position last() const { return (block_ + 1) * records; }
  [[nodiscard]] bool may_have(Token token) const;
  [[nodiscard]] bool may_have_any(std::span<const Token> tokens) const;
  /// Sorted by queue.
  [[nodiscard]] const std::vector<Grants>& grants() const { return grants_; }
  /// Behind its last record of the domain.
  [[nodiscard]] const StandBehind& stand() const { return stand_; }
  [[nodiscard]] const std::vector<std::uint64_t>& bits() const { return bits_; }
  [[nodiscard]] std::size_t bytes() const {
    return sizeof *this + bits_.capacity() * sizeof(std::uint64_t) + grants_.capacity() * sizeof(Grants);
  }
  /// The same with half of the bits, and more often "perhaps" where it is "no"; null: it has as few as there may be.
  [[nodiscard]] std::shared_ptr<const Segment> halved() const;

 private:
  Position block_;
  std::vector<std::uint64_t> bits_;  ///< Their number can be halved to `words_min` again and again, and the filter stays one.
  std::vector<Grants> grants_;
  StandBehind stand_;
};

/// Where in a log records about an object may be. Immutable, to be shared between threads.
class ObjectIndex {
 public:
  using Segments = std::vector<std::shared_ptr<const Segment>>;
  ObjectIndex(Position first_block, Position end_block, Segments segments)
      : first_block_(first_block), end_block_(end_block), segments_(std::move(segments)) {}

  /// Everything is known of the records behind `begin` up to `end`.
  [[nodiscard]] Position begin() const { return first_block_ * Segment::records; }
  [[nodiscard]] Position end() const { return end_block_ * Segment::records; }
  /// Of a block that is known; null: no record of the domain is in it.
  [[nodiscard]] const Segment* segment(Position block) const;
  [[nodiscard]] bool knows(Position block) const { return block >= first_block_ && block < end_block_; }
  /// The first position from `from` on whose record may carry one of the tokens; behind `to`: there is none up to there.
  [[nodiscard]] Position next_with(std::span<const Token> tokens, Position from, Position to) const;
  /// Down to which position no record before `before` carries one of the tokens; at least `first`.
  [[nodiscard]] Position none_down_to(std::span<const Token> tokens, Position before, Position first) const;
  [[nodiscard]] const Segments& segments() const { return segments_; }
  [[nodiscard]] Position first_block() const { return first_block_; }
  [[nodiscard]] Position end_block() const { return end_block_; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] bool has_none(Position block, std::span<const Token> tokens) const;

  Position first_block_, end_block_;
  Segments segments_;  ///< In order.
};

/// Makes it while records are read in order. A bounded number of bytes: where there would be more, the oldest filters get coarser, and at
/// last go. Not thread-safe.
class ObjectIndexMaker {
 public:
  /// What stands beside the sealed segments.
  struct Open {
    std::vector<Token> tokens;
    std::vector<Grants> grants;
    std::vector<std::pair<Token, Token>> local_queues;
    StandBehind stand;
    Position begin = 0;  ///< Behind which the first record was read.
    Position end = 0;    ///< Up to here records were read.
  };

  ObjectIndexMaker(Position begin, std::size_t bytes_max);
  ObjectIndexMaker(const ObjectIndex& made, const Open& open, std::size_t bytes_max);

  /// A record of the domain.
  void add(Position at, const RecordView& record);
  /// One that was set aside.
  void add_without_effect(Position at, const RecordView& record);
  /// All records up to here were given.
  void reach(Position end);

  [[nodiscard]] std::shared_ptr<const ObjectIndex> index() const;
  [[nodiscard]] Open open() const;
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  [[nodiscard]] static Position block_of(Position at) { return (at - 1) / Segment::records; }
  void seal(Position next_block);
  void shrink();
  [[nodiscard]] bool note_stand(const RecordView& record);
  void note_local_queue(const RecordView& record);

  const std::size_t bytes_max_;
  Position begin_;
  Position first_block_;  ///< The first that is read from its beginning.
  Position block_;        ///< That is being read.
  ObjectIndex::Segments segments_;
  std::size_t bytes_ = 0;
  std::size_t shrink_next_ = 0;  ///< The next of them to get coarser.
  std::unordered_set<Token> tokens_;
  std::unordered_map<Token, std::uint32_t> grants_;
  std::unordered_map<Token, Token> local_queues_;  ///< By name, where they lead.
  StandBehind stand_;
  Position end_;
  bool any_ = false;  ///< A record of the domain is in the block.
};

}  // namespace hindsight::page::timeline
