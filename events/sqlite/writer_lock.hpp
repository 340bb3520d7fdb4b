#pragma once

#include <string>

#include "events/own_file.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::events::sqlite {

/// The right to write one log: an flock on the file itself, so that whatever name a second process has for it, through a symbolic link, a
/// hard link or a bind mount, it is the same lock. The system takes it back when the process ends, however it ends.
///
/// `<log>.lock` beside it names the holder, for messages, and is locked as well, as releases before 0.2 did. It stays behind; removing
/// it would let two of those lock two files of one name.
class WriterLock {
 public:
  WriterLock() = default;
  WriterLock(WriterLock&& other) noexcept = default;
  WriterLock& operator=(WriterLock&& other) noexcept;
  ~WriterLock();

  /// Makes the file, 0600, if there is none. Errors: conflict (the message names the process that holds it), denied (also a symbolic link
  /// of somebody else, see own_file.hpp), invalid (no regular file), io.
  [[nodiscard]] static Result<WriterLock> take(const std::string& log_path);

  /// The name under which the log is to be opened: without symbolic links.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void let_go();

  std::string path_;
  Descriptor file_, note_;
};

}  // namespace hindsight::events::sqlite
