#include "events/kafka/message.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "events/checksum.hpp"
#include "events/record.hpp"

namespace hindsight::events::kafka {
namespace {

static_assert(std::endian::native == std::endian::little, "messages hold little-endian numbers");

constexpr std::array<char, 8> record_magic{'H', 'S', 'L', 'G', 'R', 'E', 'C', '1'};
constexpr std::array<char, 8> snapshot_magic{'H', 'S', 'L', 'G', 'S', 'N', 'A', '1'};  ///< Of no domain in particular.
constexpr std::array<char, 8> domain_snapshot_magic{'H', 'S', 'L', 'G', 'S', 'N', 'A', '2'};
constexpr std::array<char, 8> tails_magic{'H', 'S', 'L', 'G', 'T', 'A', 'I', '1'};
constexpr std::array<char, 8> owners_magic{'H', 'S', 'L', 'G', 'T', 'A', 'I', '2'};
constexpr std::array<char, 8> checkpoint_magic{'H', 'S', 'L', 'G', 'C', 'H', 'K', '1'};
constexpr std::array<char, 8> quarantined_magic{'H', 'S', 'L', 'G', 'Q', 'U', 'A', '1'};

/// A message of another version of this format, or none of ours?
tl::unexpected<Error> wrong_magic(std::span<const std::byte> value, const std::array<char, 8>& magic) {
  if (value.size() >= magic.size() && std::memcmp(value.data(), magic.data(), magic.size() - 1) == 0)
    return fail(ErrorKind::unsupported, "the message has format version " + std::string(1, static_cast<char>(value[magic.size() - 1])) +
                                            ", this release reads version 1: a newer release wrote it");
  return fail(ErrorKind::corrupt, "the message is none of this log");
}

/// Puts numbers and texts one behind another; the checksum of all before comes last.
class Packer {
 public:
  explicit Packer(const std::array<char, 8>& magic) { raw(magic.data(), magic.size()); }
  Packer& number(std::uint64_t value) { return raw(&value, sizeof value); }
  Packer& text(std::string_view value) { return number(value.size()).raw(value.data(), value.size()); }
  std::vector<std::byte> finish() {
    number(checksum(bytes_));
    return std::move(bytes_);
  }

 private:
  Packer& raw(const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + size);
    return *this;
  }
  std::vector<std::byte> bytes_;
};

/// The way back; what is not there reads as zero, and `sound` is false then.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// Checks magic and checksum and leaves what is between.
  Result<void> open(const std::array<char, 8>& magic) {
    if (bytes_.size() < magic.size() + sizeof(std::uint64_t) || std::memcmp(bytes_.data(), magic.data(), magic.size()) != 0)
      return wrong_magic(bytes_, magic);
    const std::size_t end = bytes_.size() - sizeof(std::uint64_t);
    std::uint64_t stated = 0;
    std::memcpy(&stated, bytes_.data() + end, sizeof stated);
    if (stated != checksum(bytes_.first(end))) return fail(ErrorKind::corrupt, "the checksum of the message does not fit its bytes");
    bytes_ = bytes_.subspan(magic.size(), end - magic.size());
    return {};
  }
  std::uint64_t number() {
    std::uint64_t out = 0;
    if (!take(sizeof out)) return 0;
    std::memcpy(&out, taken_.data(), sizeof out);
    return out;
  }
  std::string text() {
    const std::uint64_t size = number();
    if (!take(size)) return {};
    return {reinterpret_cast<const char*>(taken_.data()), taken_.size()};
  }
  /// A number of things of at least `each` bytes that can still follow.
  std::uint64_t count(std::size_t each) {
    const std::uint64_t out = number();
    if (out <= bytes_.size() / each) return out;
    sound_ = false;
    return 0;
  }
  [[nodiscard]] bool sound() const { return sound_ && bytes_.empty(); }

 private:
  bool take(std::uint64_t size) {
    if (size > bytes_.size()) {
      sound_ = false;
      taken_ = {};
      return false;
    }
    taken_ = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return true;
  }
  std::span<const std::byte> bytes_, taken_;
  bool sound_ = true;
};

/// Kafka's offsets are signed, and there are positions behind this one.
bool is_position(Position position) { return position < Position{1} << 62; }

std::string padded(Position position) {
  std::string digits = std::to_string(position);
  return std::string(20 - std::min<std::size_t>(20, digits.size()), '0') + digits;
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------------

void write_record(const EncodedRecord& record, std::byte* out) {
  const std::array<std::uint64_t, 4> numbers{record.sequence, record.epoch, static_cast<std::uint64_t>(record.time.micros),
                                             checksum(StoredRecord{record, 0})};
  std::memcpy(out, record_magic.data(), record_magic.size());
  std::memcpy(out + record_magic.size(), numbers.data(), sizeof numbers);
  std::memcpy(out + record_head_bytes, record.bytes.data(), record.bytes.size());
}

Result<StoredRecord> read_record(std::string_view key, std::span<const std::byte> value, Position offset) {
  if (value.size() < record_head_bytes || std::memcmp(value.data(), record_magic.data(), record_magic.size()) != 0)
    return wrong_magic(value, record_magic);
  std::array<std::uint64_t, 4> numbers{};
  std::memcpy(numbers.data(), value.data() + record_magic.size(), sizeof numbers);
  StoredRecord out{{key, numbers[0], numbers[1], Time{static_cast<std::int64_t>(numbers[2])}, value.subspan(record_head_bytes)}, 0};
  if (checksum(out) != numbers[3]) return fail(ErrorKind::corrupt, "the checksum of the record does not fit its bytes");
  out.offset = offset;
  return out;
}

std::int64_t message_timestamp(Time time) { return std::max<std::int64_t>(1, time.micros / 1000); }

// ---- snapshots ------------------------------------------------------------------------------------------------------------

std::vector<std::byte> write_snapshot_entry(const SnapshotEntry& entry) {
  Packer out(entry.meta.domain.empty() ? snapshot_magic : domain_snapshot_magic);
  if (!entry.meta.domain.empty()) out.text(entry.meta.domain);
  out.number(entry.meta.position).number(entry.meta.epoch).number(static_cast<std::uint64_t>(entry.meta.time.micros));
  out.number(entry.meta.schema_version).number(entry.meta.state_hash).text(entry.meta.release);
  out.number(entry.bytes).number(entry.checksum).number(entry.part_offsets.size());
  for (const auto offset : entry.part_offsets) out.number(static_cast<std::uint64_t>(offset));
  return out.finish();
}

Result<SnapshotEntry> read_snapshot_entry(std::span<const std::byte> value) {
  Unpacker in(value);
  const bool has_domain = value.size() >= domain_snapshot_magic.size() &&
                          std::memcmp(value.data(), domain_snapshot_magic.data(), domain_snapshot_magic.size()) == 0;
  if (auto ok = in.open(has_domain ? domain_snapshot_magic : snapshot_magic); !ok) return tl::unexpected(ok.error());
  SnapshotEntry out;
  if (has_domain) out.meta.domain = in.text();
  out.meta.position = in.number();
  out.meta.epoch = in.number();
  out.meta.time = Time{static_cast<std::int64_t>(in.number())};
  out.meta.schema_version = static_cast<std::uint32_t>(in.number());
  out.meta.state_hash = in.number();
  out.meta.release = in.text();
  out.bytes = in.number();
  out.checksum = in.number();
  out.part_offsets.resize(in.count(sizeof(std::uint64_t)));
  bool possible = out.bytes <= out.part_offsets.size() * snapshot_part_bytes_max && is_position(out.meta.position);
  for (auto& offset : out.part_offsets) {
    offset = static_cast<std::int64_t>(in.number());
    possible = possible && offset >= 0;
  }
  if (in.sound() && !possible)
    return fail(ErrorKind::corrupt, "the message about a snapshot names " + std::to_string(out.bytes) + " bytes in " +
                                        std::to_string(out.part_offsets.size()) + " parts; allowed: " +
                                        std::to_string(snapshot_part_bytes_max) + " in each, at offsets and a position that there can be");
  if (!in.sound()) return fail(ErrorKind::corrupt, "the message about a snapshot is too short or too long");
  return out;
}

// ---- tails ----------------------------------------------------------------------------------------------------------------

/// Without owners it is as builds wrote it that knew of none, and as they can read it.
std::vector<std::byte> write_tails(const DomainsAt& entry) {
  Packer out(entry.owners.empty() ? tails_magic : owners_magic);
  out.number(entry.position).number(entry.tails.size());
  for (const auto& tail : entry.tails) out.text(tail.domain).number(tail.sequence).number(tail.epoch).number(tail.offset);
  if (entry.owners.empty()) return out.finish();
  out.number(entry.owners.size());
  for (const auto& owner : entry.owners)
    out.text(owner.domain)
        .number(owner.epoch)
        .number(static_cast<std::uint64_t>(owner.since.micros))
        .text(owner.writer)
        .text(owner.release);
  return out.finish();
}

Result<DomainsAt> read_tails(std::span<const std::byte> value) {
  Unpacker in(value);
  const bool with_owners = value.size() >= owners_magic.size() && std::memcmp(value.data(), owners_magic.data(), owners_magic.size()) == 0;
  if (auto ok = in.open(with_owners ? owners_magic : tails_magic); !ok) return tl::unexpected(ok.error());
  DomainsAt out;
  out.position = in.number();
  out.tails.resize(in.count(4 * sizeof(std::uint64_t)));
  for (auto& tail : out.tails) {
    tail.domain = in.text();
    tail.sequence = in.number();
    tail.epoch = in.number();
    tail.offset = in.number();
  }
  if (with_owners) {
    out.owners.resize(in.count(5 * sizeof(std::uint64_t)));
    for (auto& owner : out.owners) {
      owner.domain = in.text();
      owner.epoch = in.number();
      owner.since = Time{static_cast<std::int64_t>(in.number())};
      owner.writer = in.text();
      owner.release = in.text();
    }
  }
  if (!in.sound()) return fail(ErrorKind::corrupt, "the message about the domains is too short or too long");
  if (!is_position(out.position))
    return fail(ErrorKind::corrupt, "the message about the domains names position " + std::to_string(out.position) + ", which no log has");
  return out;
}

// ---- records that are passed over -----------------------------------------------------------------------------------------

std::vector<std::byte> write_quarantined(std::span<const QuarantinedRecord> records) {
  Packer out(quarantined_magic);
  out.number(records.size());
  for (const auto& record : records) out.text(record.domain).number(record.sequence).number(record.position);
  return out.finish();
}

Result<std::vector<QuarantinedRecord>> read_quarantined(std::span<const std::byte> value) {
  Unpacker in(value);
  if (auto ok = in.open(quarantined_magic); !ok) return tl::unexpected(ok.error());
  std::vector<QuarantinedRecord> out(in.count(3 * sizeof(std::uint64_t)));
  for (auto& record : out) {
    record.domain = in.text();
    record.sequence = in.number();
    record.position = in.number();
  }
  if (!in.sound()) return fail(ErrorKind::corrupt, "the message about records that are passed over is too short or too long");
  return out;
}

// ---- checkpoints ----------------------------------------------------------------------------------------------------------

std::vector<std::byte> write_checkpoint(const evidence::Checkpoint& c) {
  Packer out(checkpoint_magic);
  out.number(c.position).number(c.head.begin).number(c.head.records);
  out.text({reinterpret_cast<const char*>(c.head.hash.data()), c.head.hash.size()});
  return out.number(static_cast<std::uint64_t>(c.time.micros)).text(c.release).text(c.key).text(c.signature).finish();
}

Result<evidence::Checkpoint> read_checkpoint(std::span<const std::byte> value) {
  Unpacker in(value);
  if (auto ok = in.open(checkpoint_magic); !ok) return tl::unexpected(ok.error());
  evidence::Checkpoint out;
  out.position = in.number();
  out.head.begin = in.number();
  out.head.records = in.number();
  const std::string hash = in.text();
  out.time = Time{static_cast<std::int64_t>(in.number())};
  out.release = in.text();
  out.key = in.text();
  out.signature = in.text();
  if (!in.sound() || hash.size() != out.head.hash.size())
    return fail(ErrorKind::corrupt, "the message about a checkpoint is too short or too long");
  std::memcpy(out.head.hash.data(), hash.data(), hash.size());
  if (!is_position(out.position))
    return fail(ErrorKind::corrupt, "the message about a checkpoint names position " + std::to_string(out.position) + ", which no log has");
  if (auto ok = evidence::check_form(out); !ok) return fail(ErrorKind::corrupt, ok.error().message);
  return out;
}

// ---- keys -----------------------------------------------------------------------------------------------------------------

std::string snapshot_key(Position position, std::string_view domain) {
  std::string out = "snapshot/" + padded(position);
  if (!domain.empty()) out.append("/").append(domain);
  return out;
}

std::optional<std::pair<Position, std::string>> read_snapshot_key(std::string_view key) {
  constexpr std::string_view prefix = "snapshot/";
  if (!key.starts_with(prefix)) return std::nullopt;
  key.remove_prefix(prefix.size());
  std::pair<Position, std::string> out;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), out.first);
  if (error != std::errc{}) return std::nullopt;
  key.remove_prefix(static_cast<std::size_t>(end - key.data()));
  if (key.empty()) return out;
  if (!key.starts_with('/') || key.size() == 1) return std::nullopt;
  out.second = key.substr(1);
  return out;
}

std::string checkpoint_key(Position position) { return "checkpoint/" + padded(position); }

std::optional<Position> read_checkpoint_key(std::string_view key) {
  constexpr std::string_view prefix = "checkpoint/";
  if (!key.starts_with(prefix)) return std::nullopt;
  key.remove_prefix(prefix.size());
  Position out = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), out);
  if (error != std::errc{} || end != key.data() + key.size()) return std::nullopt;
  return out;
}

std::string part_key(Position position, std::uint64_t checksum, std::size_t part) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string hash(16, '0');
  for (std::size_t i = 16; i-- > 0; checksum >>= 4) hash[i] = digits[checksum & 15];
  return "part/" + padded(position) + "/" + hash + "/" + std::to_string(part);
}

}  // namespace hindsight::events::kafka
