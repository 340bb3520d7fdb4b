#pragma once

#include <string>

#include "vocabulary/result.hpp"

namespace hindsight::events::sqlite {

/// The right to write one log: an flock on `<log>.lock`, which the system takes back when the process ends, however it ends.
/// The file names the holder and stays behind; removing it would let two processes lock two files of one name.
class WriterLock {
 public:
  WriterLock() = default;
  WriterLock(WriterLock&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  WriterLock& operator=(WriterLock&& other) noexcept;
  ~WriterLock();

  /// Errors: conflict (the message names the process that holds it), denied, io.
  [[nodiscard]] static Result<WriterLock> take(const std::string& log_path);

 private:
  int descriptor_ = -1;
};

}  // namespace hindsight::events::sqlite
