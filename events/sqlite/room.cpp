#include "events/sqlite/room.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>

namespace hindsight::events::sqlite {
namespace {

/// A writer adds some MiB in this time, far less than the reserve.
constexpr std::chrono::milliseconds looked_lately{100};

std::uint64_t size_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::uint64_t pragma(Database& database, const char* sql) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(database.query_integer(sql).value_or(0), 0));
}

}  // namespace

LogSpace Room::look(Database& database) {
  LogSpace out;
  const std::uint64_t page = pragma(database, "PRAGMA page_size");
  const std::uint64_t pages = pragma(database, "PRAGMA page_count"), unused = pragma(database, "PRAGMA freelist_count");
  out.used = (pages - std::min(pages, unused)) * page;
  out.write_ahead = size_of(path_ + "-wal");
  out.files = size_of(path_) + out.write_ahead;
  out.limit = limit_;
  struct statvfs disk {};
  if (::statvfs(path_.c_str(), &disk) == 0) {
    out.disk = static_cast<std::uint64_t>(disk.f_blocks) * disk.f_frsize;
    out.disk_free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
    out.disk_reserve = std::min(reserve, out.disk / 16);
  }
  return out;
}

Result<void> Room::check(Database& database) {
  const auto now = std::chrono::steady_clock::now();
  if (!full_ && now - looked_at_ < looked_lately) return {};
  looked_at_ = now;
  const LogSpace space = look(database);
  full_ = space.full();
  if (!full_) return {};
  return fail(ErrorKind::unavailable, "is full: " + space.text() + "; nothing is added until there is room");
}

}  // namespace hindsight::events::sqlite
