#include "page/timeline/index_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "events/checksum.hpp"
#include "page/timeline/byte_form.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::page::timeline {
namespace {

constexpr std::string_view file_mark = "HSINDEX\n";
/// Goes up with every change of what is written, and of what rows and filters mean.
constexpr std::uint32_t file_version = 1;
/// So many records of the log are named by their checksums.
constexpr std::size_t witnesses_max = 8;
constexpr std::size_t row_bytes_min = 80, mark_bytes_min = 29, segment_bytes_min = 56, name_bytes_min = 8;

/// A record by which a log is known again.
struct Witness {
  Position position = 0;
  std::uint64_t checksum = 0;
};

std::string hex(std::uint64_t number, std::size_t digits) {
  std::array<char, 17> out{};
  std::snprintf(out.data(), out.size(), "%016llx", static_cast<unsigned long long>(number));
  return std::string(out.data()).substr(16 - digits);
}

std::uint64_t hash_of_text(std::string_view text) { return events::checksum(std::as_bytes(std::span(text))); }

/// Nothing: there is none at the position.
Result<std::optional<std::uint64_t>> checksum_at(const events::Log& log, Position position) {
  events::RecordBatch batch;
  if (auto ok = log.read(position, {.records = 1}, batch); !ok) return tl::unexpected(ok.error());
  if (batch.empty() || batch[0].offset != position) return std::optional<std::uint64_t>();
  return std::optional(events::checksum(batch[0]));
}

/// Evenly over what was read, the last of it included.
Result<std::vector<Witness>> witnesses_of(const events::Log& log, Position begin, Position end) {
  std::vector<Witness> out;
  const auto first = log.first();
  if (!first) return tl::unexpected(first.error());
  const Position from = std::max(begin, *first - std::min<Position>(*first, 1));
  for (std::size_t i = 1; i <= witnesses_max && end > from; ++i) {
    const Position position = from + (end - from) / witnesses_max * i + (i == witnesses_max ? (end - from) % witnesses_max : 0);
    if (position <= from || (!out.empty() && out.back().position == position)) continue;
    const auto checksum = checksum_at(log, position);
    if (!checksum) return tl::unexpected(checksum.error());
    if (*checksum) out.push_back({position, **checksum});
  }
  return out;
}

// ---- parts ------------------------------------------------------------------------------------------------------------------------

void put_row(ByteWriter& out, const Row& row) {
  for (const auto number : {row.first, row.last}) out.put(number);
  out.put(row.time.micros);
  for (const auto number : {row.admitted, row.evicted, row.decisions}) out.put(number);
  for (const auto number : {row.waiting, row.running, row.used, row.waits_since}) out.put(number);
  out.put(static_cast<std::uint64_t>(row.pairs.size()));
  for (const PairUse& pair : row.pairs) {
    out.put(pair.used);
    out.put(pair.nominal);
  }
  out.put(static_cast<std::uint64_t>(row.marks.size()));
  for (const Mark& mark : row.marks) {
    out.put(static_cast<std::uint8_t>(mark.kind));
    out.put(mark.count);
    out.put(mark.position);
    out.put(mark.time.micros);
    out.put(std::string_view(mark.text));
  }
}

bool take_row(ByteReader& in, Row& row) {
  row.first = in.take<Position>();
  row.last = in.take<Position>();
  row.time.micros = in.take<std::int64_t>();
  for (auto* number : {&row.admitted, &row.evicted, &row.decisions}) *number = in.take<std::uint32_t>();
  for (auto* number : {&row.waiting, &row.running, &row.used, &row.waits_since}) *number = in.take<std::int64_t>();
  row.pairs.resize(in.take_count(2 * sizeof(Amount)));
  for (PairUse& pair : row.pairs) {
    pair.used = in.take<Amount>();
    pair.nominal = in.take<Amount>();
  }
  row.marks.resize(std::min(in.take_count(mark_bytes_min), mark_kinds));
  for (Mark& mark : row.marks) {
    const auto kind = in.take<std::uint8_t>();
    if (kind >= mark_kinds) return false;
    mark.kind = static_cast<MarkKind>(kind);
    mark.count = in.take<std::uint32_t>();
    mark.position = in.take<Position>();
    mark.time.micros = in.take<std::int64_t>();
    mark.text = in.take_text();
  }
  return in.good();
}

void put_series(ByteWriter& out, const Series& series) {
  for (const auto number : {series.begin, series.end, series.width}) out.put(number);
  out.put(series.decider_seen.micros);
  out.put(static_cast<std::uint64_t>(series.pairs.size()));
  for (const PairName& pair : series.pairs) {
    out.put(std::string_view(pair.flavor));
    out.put(std::string_view(pair.resource));
  }
  out.put(static_cast<std::uint64_t>(series.silences.size()));
  for (const Silence& silence : series.silences) {
    out.put(silence.from.micros);
    out.put(silence.to.micros);
  }
  std::uint64_t rows = 0;
  for (const auto& block : series.blocks) rows += block->size();
  out.put(rows);
  for (const auto& block : series.blocks)
    for (const Row& row : *block) put_row(out, row);
}

/// Null: it is not one.
std::shared_ptr<const Series> take_series(ByteReader& in) {
  auto out = std::make_shared<Series>();
  out->begin = in.take<Position>();
  out->end = in.take<Position>();
  out->width = in.take<std::uint64_t>();
  out->decider_seen.micros = in.take<std::int64_t>();
  out->pairs.resize(in.take_count(name_bytes_min));
  for (PairName& pair : out->pairs) {
    pair.flavor = in.take_text();
    pair.resource = in.take_text();
  }
  out->silences.resize(in.take_count(2 * sizeof(std::int64_t)));
  for (Silence& silence : out->silences) {
    silence.from.micros = in.take<std::int64_t>();
    silence.to.micros = in.take<std::int64_t>();
  }
  Block rows(in.take_count(row_bytes_min));
  Position before = out->begin;
  for (Row& row : rows) {
    if (!take_row(in, row) || row.first <= before || row.last < row.first || row.last > out->end) return nullptr;
    before = row.last;
  }
  if (!in.good() || !std::has_single_bit(out->width) || out->begin > out->end) return nullptr;
  if (!rows.empty()) out->blocks.push_back(std::make_shared<const Block>(std::move(rows)));
  return out;
}

void put_stand(ByteWriter& out, const StandBehind& stand) {
  for (const auto number : {stand.sequence, stand.epoch, stand.decided_base}) out.put(number);
  out.put(stand.now.micros);
}

StandBehind take_stand(ByteReader& in) {
  StandBehind out;
  out.sequence = in.take<std::uint64_t>();
  out.epoch = in.take<std::uint64_t>();
  out.decided_base = in.take<std::uint64_t>();
  out.now.micros = in.take<std::int64_t>();
  return out;
}

void put_grants(ByteWriter& out, const std::vector<Grants>& grants) {
  out.put(static_cast<std::uint64_t>(grants.size()));
  for (const Grants& one : grants) {
    out.put(one.queue);
    out.put(one.count);
  }
}

std::vector<Grants> take_grants(ByteReader& in) {
  std::vector<Grants> out(in.take_count(sizeof(Token) + sizeof(std::uint32_t)));
  for (Grants& one : out) {
    one.queue = in.take<Token>();
    one.count = in.take<std::uint32_t>();
  }
  return out;
}

template <class Number>
void put_numbers(ByteWriter& out, const std::vector<Number>& numbers) {
  out.put(static_cast<std::uint64_t>(numbers.size()));
  out.put_raw(std::as_bytes(std::span(numbers)));
}

std::vector<std::uint64_t> take_numbers(ByteReader& in) {
  std::vector<std::uint64_t> out(in.take_count(sizeof(std::uint64_t)));
  const auto from = in.take_raw(out.size() * sizeof(std::uint64_t));
  if (!out.empty() && in.good()) std::memcpy(out.data(), from.data(), from.size());
  return out;
}

void put_objects(ByteWriter& out, const ObjectIndex& index, const ObjectIndexMaker::Open& open) {
  out.put(index.first_block());
  out.put(index.end_block());
  out.put(static_cast<std::uint64_t>(index.segments().size()));
  for (const auto& segment : index.segments()) {
    out.put(segment->block());
    put_stand(out, segment->stand());
    put_grants(out, segment->grants());
    put_numbers(out, segment->bits());
  }
  put_numbers(out, open.tokens);
  put_grants(out, open.grants);
  out.put(static_cast<std::uint64_t>(open.local_queues.size()));
  for (const auto& [name, leads] : open.local_queues) {
    out.put(name);
    out.put(leads);
  }
  put_stand(out, open.stand);
  out.put(open.begin);
  out.put(open.end);
}

bool take_objects(ByteReader& in, KeptIndex& kept) {
  const auto first = in.take<Position>(), end = in.take<Position>();
  ObjectIndex::Segments segments(in.take_count(segment_bytes_min));
  Position next = first;
  for (auto& segment : segments) {
    const auto block = in.take<Position>();
    const auto stand = take_stand(in);
    auto grants = take_grants(in);
    auto bits = take_numbers(in);
    if (!in.good() || block < next || block >= end || bits.size() < Segment::words_min) return false;
    next = block + 1;
    segment = std::make_shared<const Segment>(block, std::move(bits), std::move(grants), stand);
  }
  kept.open.tokens = take_numbers(in);
  kept.open.grants = take_grants(in);
  kept.open.local_queues.resize(in.take_count(2 * sizeof(Token)));
  for (auto& [name, leads] : kept.open.local_queues) {
    name = in.take<Token>();
    leads = in.take<Token>();
  }
  kept.open.stand = take_stand(in);
  kept.open.begin = in.take<Position>();
  kept.open.end = in.take<Position>();
  if (!in.good() || first > end || end > index_file_bytes_max * Segment::records || kept.open.end != kept.rows->end) return false;
  kept.objects = std::make_shared<const ObjectIndex>(first, end, std::move(segments));
  return true;
}

// ---- the file ---------------------------------------------------------------------------------------------------------------------

tl::unexpected<Error> io_error(const std::string& path, const char* what) {
  return fail(ErrorKind::io, path + ": " + what + ": " + std::system_category().message(errno));
}

struct CloseFile {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};
using OwnedFile = std::unique_ptr<std::FILE, CloseFile>;

Result<std::optional<std::vector<std::byte>>> whole_file(const std::string& path) {
  const OwnedFile file(std::fopen(path.c_str(), "rbe"));
  if (!file) {
    if (errno == ENOENT) return std::optional<std::vector<std::byte>>();
    return io_error(path, "it cannot be opened");
  }
  if (std::fseek(file.get(), 0, SEEK_END) != 0) return io_error(path, "it cannot be read");
  const long size = std::ftell(file.get());
  if (size < 0) return io_error(path, "it cannot be read");
  if (static_cast<std::size_t>(size) > index_file_bytes_max)
    return fail(ErrorKind::corrupt, path + ": found " + std::to_string(size) + " bytes; allowed: " + std::to_string(index_file_bytes_max));
  std::rewind(file.get());
  std::vector<std::byte> out(static_cast<std::size_t>(size));
  if (std::fread(out.data(), 1, out.size(), file.get()) != out.size())
    return fail(ErrorKind::corrupt, path + ": it ended while it was read");
  return std::optional(std::move(out));
}

/// Why a file is not of this log; empty: it is.
Result<std::string> why_foreign(const events::Log& log, const std::vector<Witness>& witnesses, Position end) {
  const auto first = log.first();
  if (!first) return tl::unexpected(first.error());
  const auto last = log.last();
  if (!last) return tl::unexpected(last.error());
  if (*last < end)
    return "found an index up to record " + std::to_string(end) + "; allowed: up to " + std::to_string(*last) + ", the end of the log";
  bool known = false;
  for (const Witness& witness : witnesses) {
    if (witness.position < *first) continue;  // forgotten since
    const auto now = checksum_at(log, witness.position);
    if (!now) return tl::unexpected(now.error());
    if (*now != witness.checksum) return "found an index of a log in which record " + std::to_string(witness.position) + " is another one";
    known = true;
  }
  return known ? std::string() : std::string("found an index of a log of which no record that it names is kept");
}

}  // namespace

std::string index_file_path(std::string_view log_name, std::string_view domain, const std::string& folder, bool always_folder) {
  constexpr std::string_view sqlite = "sqlite:";
  const std::string ending = ".index-" + hex(hash_of_text(domain), 8);
  const bool is_file = log_name.starts_with(sqlite) && log_name.size() > sqlite.size();
  if (is_file && !always_folder) return std::string(log_name.substr(sqlite.size())) + ending;
  if (folder.empty() || (!is_file && log_name.find(':') == std::string_view::npos) || log_name.starts_with("memory")) return {};
  return (std::filesystem::path(folder) / ("log-" + hex(hash_of_text(log_name), 16) + ending)).string();
}

Result<void> write_index_file(const std::string& path, const events::Log& log, const std::string& domain, const std::string& release,
                              const KeptIndex& kept) {
  const auto witnesses = witnesses_of(log, kept.rows->begin, kept.rows->end);
  if (!witnesses) return tl::unexpected(witnesses.error());
  ByteWriter out;
  out.put_raw(std::as_bytes(std::span(file_mark)));
  out.put(file_version);
  out.put(std::string_view(release));
  out.put(std::string_view(domain));
  out.put(static_cast<std::uint64_t>(witnesses->size()));
  for (const Witness& witness : *witnesses) {
    out.put(witness.position);
    out.put(witness.checksum);
  }
  put_numbers(out, std::vector<std::uint64_t>(kept.passed_over.begin(), kept.passed_over.end()));
  put_series(out, *kept.rows);
  put_objects(out, *kept.objects, kept.open);
  out.put(events::checksum(out.bytes()));
  if (out.bytes().size() > index_file_bytes_max) return fail(ErrorKind::io, path + ": it would be longer than an index may be");

  std::error_code ignored;
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, ignored);
  const std::string under_way = path + "." + std::to_string(::getpid()) + ".new";
  {
    OwnedFile file(std::fopen(under_way.c_str(), "wbe"));
    if (!file) return io_error(under_way, "it cannot be made");
    const bool whole = std::fwrite(out.bytes().data(), 1, out.bytes().size(), file.get()) == out.bytes().size();
    if (!whole || std::fclose(file.release()) != 0) {
      const auto error = io_error(under_way, "it cannot be written");
      (void)std::remove(under_way.c_str());
      return error;
    }
  }
  if (std::rename(under_way.c_str(), path.c_str()) != 0) {
    const auto error = io_error(path, "it cannot be put in place");
    (void)std::remove(under_way.c_str());
    return error;
  }
  return {};
}

Result<std::optional<KeptIndex>> read_index_file(const std::string& path, const events::Log& log, const std::string& domain,
                                                 const std::string& release) {
  const auto read = whole_file(path);
  if (!read) return tl::unexpected(read.error());
  if (!*read) return std::optional<KeptIndex>();
  const std::span<const std::byte> all(**read);
  const auto damaged = [&](const char* what) { return fail(ErrorKind::corrupt, path + ": " + what); };
  ByteReader in(all);
  const auto mark = in.take_raw(file_mark.size());
  if (!in.good() || !std::ranges::equal(mark, std::as_bytes(std::span(file_mark)))) return damaged("this is no index of a history");
  if (const auto version = in.take<std::uint32_t>(); version != file_version)
    return fail(ErrorKind::unsupported,
                path + ": version of the index: found " + std::to_string(version) + "; allowed: " + std::to_string(file_version));
  if (all.size() < 2 * sizeof(std::uint64_t)) return damaged("it is cut off");
  const auto body = all.first(all.size() - sizeof(std::uint64_t));
  if (ByteReader(all.last(sizeof(std::uint64_t))).take<std::uint64_t>() != events::checksum(body))
    return damaged("its checksum is not that of its bytes");
  in = ByteReader(body.subspan(file_mark.size() + sizeof(file_version)));
  if (const auto by = in.take_text(); by != release)
    return fail(ErrorKind::unsupported, path + ": release: found \"" + printable(by) + "\"; allowed: \"" + printable(release) + "\"");
  if (const auto of = in.take_text(); of != domain)
    return fail(ErrorKind::conflict, path + ": domain: found \"" + printable(of) + "\"; allowed: \"" + printable(domain) + "\"");
  std::vector<Witness> witnesses(std::min(in.take_count(2 * sizeof(std::uint64_t)), witnesses_max));
  for (Witness& witness : witnesses) {
    witness.position = in.take<Position>();
    witness.checksum = in.take<std::uint64_t>();
  }
  KeptIndex out;
  const auto passed_over = take_numbers(in);
  out.passed_over.insert(passed_over.begin(), passed_over.end());
  out.rows = take_series(in);
  if (out.rows == nullptr || !take_objects(in, out) || !in.at_end()) return damaged("what stands in it is not of the form that it has");
  const auto foreign = why_foreign(log, witnesses, out.rows->end);
  if (!foreign) return tl::unexpected(foreign.error());
  if (!foreign->empty()) return fail(ErrorKind::conflict, path + ": " + *foreign);
  return std::optional(std::move(out));
}

}  // namespace hindsight::page::timeline
