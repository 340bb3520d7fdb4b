#include "casefile/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace hindsight::casefile {
namespace {

tl::unexpected<Error> cannot_write(const std::string& path, int error) {
  return fail(ErrorKind::io, path + ": cannot be written: " + std::strerror(error));
}

tl::unexpected<Error> is_there(const std::string& path) {
  return fail(ErrorKind::conflict, path + ": is there already; allowed: another name, or --force to replace it");
}

}  // namespace

Result<OutputFile> OutputFile::create(std::string path, bool replace) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (!replace) return is_there(path);
    if (!S_ISREG(status.st_mode)) return fail(ErrorKind::invalid, path + ": found no regular file; allowed: a regular file, or none");
  } else if (errno != ENOENT) {
    return cannot_write(path, errno);
  }
  OutputFile out;
  out.fresh_ = path + ".XXXXXX";
  out.file_ = events::Descriptor(::mkostemp(out.fresh_.data(), O_CLOEXEC));
  const int error = errno;
  if (!out.file_) {
    out.fresh_.clear();
    return cannot_write(path, error);
  }
  out.path_ = std::move(path);
  out.replace_ = replace;
  return out;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), fresh_(std::exchange(other.fresh_, {})), replace_(other.replace_), file_(std::move(other.file_)) {}

OutputFile::~OutputFile() {
  if (!fresh_.empty()) ::unlink(fresh_.c_str());
}

Result<void> OutputFile::finish() {
  if (::fsync(file_.get()) != 0) return cannot_write(path_, errno);
  if (replace_) {
    if (::rename(fresh_.c_str(), path_.c_str()) != 0) return cannot_write(path_, errno);
  } else {
    // A link never takes the place of what is there.
    if (::link(fresh_.c_str(), path_.c_str()) != 0) {
      if (errno == EEXIST) return is_there(path_);
      // Not every file system has links: what is left is a moment in which somebody else could make the file.
      if (errno != EPERM && errno != EOPNOTSUPP) return cannot_write(path_, errno);
      if (::access(path_.c_str(), F_OK) == 0) return is_there(path_);
      if (::rename(fresh_.c_str(), path_.c_str()) != 0) return cannot_write(path_, errno);
      fresh_.clear();
      return {};
    }
    ::unlink(fresh_.c_str());
  }
  fresh_.clear();
  return {};
}

Result<TemporaryFolder> TemporaryFolder::create() {
  const char* base = std::getenv("TMPDIR");
  TemporaryFolder out;
  out.path_ = std::string(base == nullptr || *base == '\0' ? "/tmp" : base) + "/hindsight-evidence.XXXXXX";
  if (::mkdtemp(out.path_.data()) == nullptr) {
    const std::string path = std::exchange(out.path_, {});
    return fail(ErrorKind::io, path + ": no folder can be made: " + std::strerror(errno));
  }
  return out;
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace hindsight::casefile
