#include "page/server/own_snapshots.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hindsight::page {
namespace {

tl::unexpected<Error> only_read(std::string_view log) {
  return fail(ErrorKind::denied, "log " + std::string(log) + ": is only read here; allowed: to write it by the process that decides");
}

}  // namespace

// ---- the memory -------------------------------------------------------------------------------------------------------------------

SnapshotMemory::Kept::iterator SnapshotMemory::locate(Owner owner, events::Position position, std::string_view domain) {
  return std::find_if(kept_.begin(), kept_.end(), [&](const One& one) {
    return one.owner == owner && one.snapshot->meta.position == position && one.snapshot->meta.domain == domain;
  });
}

void SnapshotMemory::forget(Kept::iterator it) {
  bytes_ -= it->snapshot->bytes.size();
  kept_.erase(it);
}

void SnapshotMemory::put(Owner owner, const events::SnapshotMeta& meta, std::span<const std::byte> bytes) {
  if (bytes.size() > bytes_max_) return;
  auto snapshot = std::make_shared<events::StoredSnapshot>();
  snapshot->meta = meta;
  snapshot->bytes.assign(bytes.begin(), bytes.end());
  const std::lock_guard lock(mutex_);
  if (const auto older = locate(owner, meta.position, meta.domain); older != kept_.end()) forget(older);
  kept_.push_front({owner, std::move(snapshot)});
  bytes_ += bytes.size();
  while (bytes_ > bytes_max_) forget(std::prev(kept_.end()));
}

std::shared_ptr<const events::StoredSnapshot> SnapshotMemory::find(Owner owner, events::Position position, std::string_view domain) {
  const std::lock_guard lock(mutex_);
  const auto it = locate(owner, position, domain);
  if (it == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, it);
  return it->snapshot;
}

std::vector<events::SnapshotMeta> SnapshotMemory::of(Owner owner) const {
  std::vector<events::SnapshotMeta> out;
  const std::lock_guard lock(mutex_);
  for (const auto& one : kept_)
    if (one.owner == owner) out.push_back(one.snapshot->meta);
  return out;
}

void SnapshotMemory::drop(Owner owner, events::Position position, std::string_view domain) {
  const std::lock_guard lock(mutex_);
  if (const auto it = locate(owner, position, domain); it != kept_.end()) forget(it);
}

void SnapshotMemory::drop_all(Owner owner) {
  const std::lock_guard lock(mutex_);
  for (auto it = kept_.begin(); it != kept_.end();) {
    const auto next = std::next(it);
    if (it->owner == owner) forget(it);
    it = next;
  }
}

std::size_t SnapshotMemory::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

// ---- the log ----------------------------------------------------------------------------------------------------------------------

Result<void> LogWithOwnSnapshots::put_snapshot(const events::SnapshotMeta& meta, std::span<const std::byte> bytes) {
  memory_->put(this, meta, bytes);
  return {};
}

Result<std::vector<events::SnapshotMeta>> LogWithOwnSnapshots::snapshots() const {
  auto all = log_->snapshots();
  if (!all) return all;
  const auto set_aside = log_->quarantined();
  if (!set_aside) return tl::unexpected(set_aside.error());
  if (quarantined_.exchange(set_aside->size()) != set_aside->size()) memory_->drop_all(this);
  {
    const std::lock_guard lock(mutex_);
    if (!hidden_.empty()) std::erase_if(*all, [this](const auto& meta) { return hidden_.contains({meta.position, meta.domain}); });
  }
  for (auto& own : memory_->of(this)) {
    const auto same = [&](const events::SnapshotMeta& m) { return m.position == own.position && m.domain == own.domain; };
    if (std::none_of(all->begin(), all->end(), same)) all->push_back(std::move(own));
  }
  std::stable_sort(all->begin(), all->end(), [](const auto& a, const auto& b) { return a.position > b.position; });
  return all;
}

Result<events::StoredSnapshot> LogWithOwnSnapshots::snapshot(events::Position position, std::string_view domain) const {
  if (const auto own = memory_->find(this, position, domain)) return *own;
  return log_->snapshot(position, domain);
}

void LogWithOwnSnapshots::hide(events::Position position, std::string_view domain) {
  memory_->drop(this, position, domain);
  const std::lock_guard lock(mutex_);
  hidden_.emplace(position, domain);
}

Result<void> LogWithOwnSnapshots::drop_snapshot(events::Position position, std::string_view domain) {
  memory_->drop(this, position, domain);
  return {};
}

Result<events::Position> LogWithOwnSnapshots::append(std::span<const events::EncodedRecord> /*records*/,
                                                     std::optional<events::Position> /*expected*/) {
  return only_read(name());
}

void LogWithOwnSnapshots::append_async(events::RecordBatch /*batch*/, std::optional<events::Position> /*expected*/,
                                       events::AppendDone done) {
  done(only_read(name()));
}

}  // namespace hindsight::page
