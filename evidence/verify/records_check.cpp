#include "evidence/verify/records_check.hpp"

#include <algorithm>

#include "evidence/files.hpp"

namespace hindsight::evidence {
namespace {

std::uint64_t number_of(const Checkpoint& checkpoint) { return checkpoint.head.records; }

std::string number(std::uint64_t n) { return std::to_string(n); }

}  // namespace

RecordsCheck::RecordsCheck(std::vector<Checkpoint> checkpoints, const std::vector<PublicKey>& keys)
    : checkpoints_(std::move(checkpoints)), keys_(keys) {
  std::ranges::stable_sort(checkpoints_, {}, number_of);
}

Result<void> RecordsCheck::take(std::string_view text) {
  ++report_.lines;
  const auto line = read_line(text);
  if (!line) return tl::unexpected(line.error());
  if (const auto* start = std::get_if<StartLine>(&*line)) return begin(start->head);
  if (!chain_) return fail(ErrorKind::invalid, "a record before any segment begins; allowed: a line with \"start\" first");
  if (const auto* record = std::get_if<RecordLine>(&*line)) return add(record->number, chain_->content(record->content()), true);
  const auto& withheld = std::get<WithheldLine>(*line);
  return add(withheld.number, withheld.content, false);
}

Result<void> RecordsCheck::begin(const Head& head) {
  if (chain_) {
    const Head& before = chain_->head();
    if (head.begin != before.begin || head.records < before.records)
      return fail(ErrorKind::invalid, "a segment begins behind record " + number(head.records) + " of the chain from " +
                                          number(head.begin) + ", and the one before ended with record " + number(before.records) +
                                          " of the chain from " + number(before.begin) + "; allowed: the same chain, and not further back");
    if (head.records == before.records && head.hash != before.hash)
      return fail(ErrorKind::invalid, "a segment begins behind record " + number(head.records) +
                                          " with another hash than the one before ended with; allowed: the same");
  }
  if (head.records == head.begin && head != genesis(head.begin))
    return fail(ErrorKind::invalid, "a segment begins with the chain, and with another hash than a chain begins with; allowed: " +
                                        hex(genesis(head.begin).hash));
  end_segment();
  ++report_.segments;
  chain_.emplace(head);
  next_ = static_cast<std::size_t>(std::ranges::lower_bound(checkpoints_, head.records, {}, number_of) - checkpoints_.begin());
  return compare();
}

Result<void> RecordsCheck::add(std::uint64_t record, const Digest& content, bool included) {
  if (record != chain_->head().records + 1)
    return fail(ErrorKind::invalid,
                "field \"record\" is " + number(record) + "; allowed: " + number(chain_->head().records + 1) + ", the next of its segment");
  chain_->add(content);
  if (report_.first == 0) report_.first = record;
  report_.last = record;
  ++(included ? report_.included : report_.withheld);
  if (included) ++pending_;
  return compare();
}

/// With the checkpoints of the record that the chain has come to.
Result<void> RecordsCheck::compare() {
  const Head& head = chain_->head();
  std::size_t met = 0;
  for (; next_ < checkpoints_.size() && number_of(checkpoints_[next_]) <= head.records; ++next_) {
    const Checkpoint& checkpoint = checkpoints_[next_];
    if (number_of(checkpoint) < head.records || checkpoint.head.begin != head.begin) continue;
    if (++met > checkpoints_of_a_record_max)
      return fail(ErrorKind::invalid, "more than " + number(checkpoints_of_a_record_max) + " checkpoints are of record " +
                                          number(head.records) + "; allowed: up to that");
    const PublicKey* signer = signer_of(checkpoint, keys_);
    const bool named = std::ranges::any_of(keys_, [&](const PublicKey& key) { return key.id() == checkpoint.key; });
    if (signer == nullptr && named)
      return fail(ErrorKind::invalid, "the signature of the checkpoint of record " + number(head.records) + " is not by key " +
                                          checkpoint.key + " over what it says: the checkpoint was changed");
    if (checkpoint.head.hash != head.hash)
      return fail(ErrorKind::invalid, "the records lead to " + hex(head.hash) + " at record " + number(head.records) + ", the checkpoint " +
                                          (signer != nullptr ? "that key " + checkpoint.key + " has signed" : std::string("there")) +
                                          " says " + hex(checkpoint.head.hash) +
                                          ": a record since the checkpoint before was changed, removed, added or moved");
    ++report_.passed;
    if (signer == nullptr) {
      stored_ = pending_;
      continue;
    }
    if (pending_ > 0) {
      report_.newest = checkpoint;
      if (std::ranges::find(report_.signers, checkpoint.key) == report_.signers.end()) report_.signers.push_back(checkpoint.key);
    }
    report_.proved += pending_;
    pending_ = stored_ = 0;
  }
  return {};
}

void RecordsCheck::end_segment() {
  report_.stored += stored_;
  pending_ = stored_ = 0;
}

RecordsReport RecordsCheck::finish() {
  end_segment();
  return report_;
}

Result<std::vector<Checkpoint>> read_checkpoints(const std::filesystem::path& file) {
  auto reader = LineReader::open(file);
  if (!reader) return tl::unexpected(reader.error());
  std::vector<Checkpoint> out;
  std::string line;
  for (;;) {
    const auto there = reader->next(line);
    if (!there) return tl::unexpected(there.error());
    if (!*there) return out;
    const std::string where = file.filename().string() + ":" + number(reader->number()) + ": ";
    if (out.size() == checkpoints_max)
      return fail(ErrorKind::invalid, where + "more than " + number(checkpoints_max) + " checkpoints; allowed: up to that");
    auto checkpoint = read_checkpoint_line(line);
    if (!checkpoint) return fail(ErrorKind::invalid, where + checkpoint.error().message);
    out.push_back(std::move(*checkpoint));
  }
}

Result<RecordsReport> check_records(const std::filesystem::path& file, std::vector<Checkpoint> checkpoints,
                                    const std::vector<PublicKey>& keys) {
  auto reader = LineReader::open(file);
  if (!reader) return tl::unexpected(reader.error());
  RecordsCheck check(std::move(checkpoints), keys);
  std::string line;
  for (;;) {
    const auto there = reader->next(line);
    if (there && !*there) return check.finish();
    std::string why;
    if (!there)
      why = there.error().message;
    else if (auto ok = check.take(line); !ok)
      why = file.filename().string() + ":" + number(reader->number()) + ": " + ok.error().message;
    if (why.empty()) continue;
    RecordsReport out = check.finish();
    out.failure = std::move(why);
    return out;
  }
}

}  // namespace hindsight::evidence
