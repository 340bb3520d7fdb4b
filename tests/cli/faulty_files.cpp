// What a disk may do to the files of a log. A library that is loaded before the C library (LD_PRELOAD); HINDSIGHT_FAULTS names a file whose
// first word says what, looked at with each call, so that a test can begin and end a fault while the program runs:
//
//     none           everything works
//     write-error    writes fail with EIO
//     sync-error     fsync and fdatasync fail with EIO
//     full           writes fail with ENOSPC
//     short          writes take half of what they are given
//     read-error     reads fail with EIO
//
// Only files whose path has HINDSIGHT_FAULTS_IN in it are touched.

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

thread_local bool inside = false;

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Fills in the text and ends it.
template <std::size_t N>
std::string_view ended(std::array<char, N>& text, ssize_t length) {
  text[length > 0 ? static_cast<std::size_t>(length) : 0] = '\0';
  return text.data();
}

bool is_in_force(std::string_view fault) {
  const char* file = std::getenv("HINDSIGHT_FAULTS");
  const int d = file == nullptr ? -1 : open(file, O_RDONLY | O_CLOEXEC);
  if (d < 0) return false;
  std::array<char, 32> text{};
  const auto word = ended(text, read(d, text.data(), text.size() - 1));
  close(d);
  return word.substr(0, word.find_first_of(" \n")) == fault;
}

bool concerns(int d) {
  const char* part = std::getenv("HINDSIGHT_FAULTS_IN");
  if (part == nullptr) return false;
  std::array<char, 64> link{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", d);
  std::array<char, 4096> path{};
  return ended(path, readlink(link.data(), path.data(), path.size() - 1)).find(part) != std::string_view::npos;
}

/// Whether this fault is in force for the file behind the descriptor.
bool strikes(int d, std::string_view fault) {
  if (inside) return false;
  inside = true;
  const int saved = errno;
  const bool out = is_in_force(fault) && concerns(d);
  errno = saved;
  inside = false;
  return out;
}

bool write_fails(int d) {
  const bool error = strikes(d, "write-error");
  if (!error && !strikes(d, "full")) return false;
  errno = error ? EIO : ENOSPC;
  return true;
}

std::size_t taken(int d, std::size_t n) { return n > 1 && strikes(d, "short") ? n / 2 : n; }

int synced(int d, const char* name) {
  if (strikes(d, "sync-error")) {
    errno = EIO;
    return -1;
  }
  return real<int(int)>(name)(d);
}

}  // namespace

extern "C" {

ssize_t write(int d, const void* data, std::size_t n) {
  return write_fails(d) ? -1 : real<ssize_t(int, const void*, std::size_t)>("write")(d, data, taken(d, n));
}

ssize_t pwrite(int d, const void* data, std::size_t n, off_t at) {
  return write_fails(d) ? -1 : real<ssize_t(int, const void*, std::size_t, off_t)>("pwrite")(d, data, taken(d, n), at);
}

ssize_t pwrite64(int d, const void* data, std::size_t n, off64_t at) {
  return write_fails(d) ? -1 : real<ssize_t(int, const void*, std::size_t, off64_t)>("pwrite64")(d, data, taken(d, n), at);
}

int fsync(int d) { return synced(d, "fsync"); }

int fdatasync(int d) { return synced(d, "fdatasync"); }

ssize_t pread64(int d, void* data, std::size_t n, off64_t at) {
  if (strikes(d, "read-error")) {
    errno = EIO;
    return -1;
  }
  return real<ssize_t(int, void*, std::size_t, off64_t)>("pread64")(d, data, n, at);
}

}  // extern "C"
