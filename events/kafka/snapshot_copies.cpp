#include "events/kafka/snapshot_copies.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <span>
#include <system_error>

#include "events/checksum.hpp"
#include "events/own_file.hpp"

namespace hindsight::events::kafka {
namespace {

constexpr std::size_t copies_max = 2;
/// By then a copy is written, or whoever wrote it is gone.
constexpr std::chrono::minutes writing_max{10};
constexpr const char* ending = ".snapshot";

/// So that names sort as numbers do.
std::string sortable(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(20 - digits.size(), '0') + digits;
}

}  // namespace

Result<SnapshotCopies> SnapshotCopies::open(const std::filesystem::path& folder, const Location& location) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error && ::access(folder.c_str(), R_OK | W_OK | X_OK) != 0) error = std::error_code(errno, std::generic_category());
  if (error)
    return fail(error == std::errc::permission_denied ? ErrorKind::denied : ErrorKind::io,
                "folder " + folder.string() + " for copies of snapshots: " + error.message());
  return SnapshotCopies(folder, location.prefix + "-" + std::to_string(location.partition) + "-");
}

/// Names of domains have slashes, so files are named by their hashes.
std::string SnapshotCopies::family(const SnapshotEntry& entry) const {
  return prefix_ + sortable(checksum(std::as_bytes(std::span(entry.meta.domain)))) + "-";
}

std::filesystem::path SnapshotCopies::file(const SnapshotEntry& entry) const {
  return folder_ / (family(entry) + sortable(entry.meta.position) + "-" + sortable(entry.checksum) + ending);
}

/// Only what we have written ourselves: others may be able to write to the folder, and a checksum tells damage, not forgery.
std::optional<std::vector<std::byte>> SnapshotCopies::read(const SnapshotEntry& entry) const {
  auto bytes = read_own_file(file(entry), entry.bytes);
  if (!bytes || bytes->size() != entry.bytes) return std::nullopt;
  return std::move(*bytes);
}

void SnapshotCopies::write(const SnapshotEntry& entry, std::span<const std::byte> bytes) const {
  if (!replace_file(file(entry), bytes)) return;
  std::error_code error;
  std::vector<std::filesystem::path> all;
  for (std::filesystem::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(family(entry))) continue;
    if (name.ends_with(ending)) {
      all.push_back(it->path());
    } else if (it->last_write_time(error) < std::filesystem::file_time_type::clock::now() - writing_max && !error) {
      std::filesystem::remove(it->path(), error);
    }
  }
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i + copies_max < all.size(); ++i) std::filesystem::remove(all[i], error);
}

}  // namespace hindsight::events::kafka
