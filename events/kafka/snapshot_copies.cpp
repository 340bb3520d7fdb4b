#include "events/kafka/snapshot_copies.hpp"

#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <system_error>

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
  return prefix_ + sortable(XXH3_64bits(entry.meta.domain.data(), entry.meta.domain.size())) + "-";
}

std::filesystem::path SnapshotCopies::file(const SnapshotEntry& entry) const {
  return folder_ / (family(entry) + sortable(entry.meta.position) + "-" + sortable(entry.checksum) + ending);
}

std::optional<std::vector<std::byte>> SnapshotCopies::read(const SnapshotEntry& entry) const {
  const auto path = file(entry);
  std::error_code error;
  if (std::filesystem::file_size(path, error) != entry.bytes || error) return std::nullopt;
  std::vector<std::byte> out(entry.bytes);
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
  if (!in) return std::nullopt;
  return out;
}

void SnapshotCopies::write(const SnapshotEntry& entry, std::span<const std::byte> bytes) const {
  const auto path = file(entry);
  const auto unfinished = std::filesystem::path(path).concat("." + std::to_string(::getpid()));
  std::error_code error;
  {
    std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) {
      std::filesystem::remove(unfinished, error);
      return;
    }
  }
  std::filesystem::rename(unfinished, path, error);
  if (error) std::filesystem::remove(unfinished, error);
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
