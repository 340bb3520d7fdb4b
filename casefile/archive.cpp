#include "casefile/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "events/own_file.hpp"

namespace hindsight::casefile {
namespace {

struct FreeEntry {
  void operator()(archive_entry* e) const { archive_entry_free(e); }
};

}  // namespace

void Archive::Close::operator()(struct archive* a) const { archive_write_free(a); }

tl::unexpected<Error> Archive::failed() const {
  const char* why = archive_error_string(archive_.get());
  return fail(ErrorKind::io, std::string("the evidence could not be written: ") + (why == nullptr ? "unknown error" : why));
}

Result<Archive> Archive::open(int file, std::string folder, Time time) {
  Archive out;
  out.archive_.reset(archive_write_new());
  out.folder_ = std::move(folder);
  out.time_ = time;
  auto* a = out.archive_.get();
  if (a == nullptr) return fail(ErrorKind::io, "the evidence could not be written: no memory");
  // "timestamp" is the time of packing in the header of gzip. Output that is no regular file would be filled up to whole blocks otherwise.
  const bool set = archive_write_set_format_pax_restricted(a) == ARCHIVE_OK && archive_write_add_filter_gzip(a) == ARCHIVE_OK &&
                   archive_write_set_filter_option(a, "gzip", "timestamp", nullptr) == ARCHIVE_OK &&
                   archive_write_set_filter_option(a, "gzip", "compression-level", "6") == ARCHIVE_OK &&
                   archive_write_set_bytes_in_last_block(a, 1) == ARCHIVE_OK && archive_write_open_fd(a, file) == ARCHIVE_OK;
  if (!set) return out.failed();
  return out;
}

Result<void> Archive::begin(const std::string& name, std::int64_t bytes) {
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  if (entry == nullptr) return fail(ErrorKind::io, "the evidence could not be written: no memory");
  archive_entry_set_pathname(entry.get(), (folder_ + "/" + name).c_str());
  archive_entry_set_size(entry.get(), bytes);
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0600);
  archive_entry_set_mtime(entry.get(), static_cast<time_t>(std::max<std::int64_t>(0, time_.floor_seconds())), 0);
  if (archive_write_header(archive_.get(), entry.get()) != ARCHIVE_OK) return failed();
  return {};
}

Result<void> Archive::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = archive_write_data(archive_.get(), bytes.data(), bytes.size());
    if (n <= 0) return failed();
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<void> Archive::add(const std::string& name, std::string_view bytes) {
  if (auto ok = begin(name, static_cast<std::int64_t>(bytes.size())); !ok) return ok;
  return write(bytes);
}

Result<void> Archive::add_file(const std::string& name, const std::string& path) {
  const auto cannot = [&] { return fail(ErrorKind::io, path + ": " + std::strerror(errno)); };
  const events::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return cannot();
  if (auto ok = begin(name, status.st_size); !ok) return ok;
  std::vector<char> part(std::size_t{1} << 20);
  for (std::int64_t left = status.st_size; left > 0;) {
    const auto n = ::read(file.get(), part.data(), std::min(part.size(), static_cast<std::size_t>(left)));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot();
    if (n == 0) return fail(ErrorKind::conflict, path + ": it got shorter while it was read");
    if (auto ok = write({part.data(), static_cast<std::size_t>(n)}); !ok) return ok;
    left -= n;
  }
  return {};
}

Result<void> Archive::finish() {
  if (archive_write_close(archive_.get()) != ARCHIVE_OK) return failed();
  return {};
}

}  // namespace hindsight::casefile
