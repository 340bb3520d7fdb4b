#pragma once

#include <string>

#include "events/own_file.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::casefile {

/// Removes the files and folders below that this process has begun and not finished. For the thread that was told of a signal, right before
/// the process ends: nobody may use them afterwards.
void remove_unfinished();

/// A file that comes into being whole or not at all: it is written beside, 0600, under a name that nobody can know before, and renamed at
/// the end. What was begun and not finished is removed: at once, or by the next one of the same name if its process was killed.
class OutputFile {
 public:
  /// `replace`: a regular file of this name may be there. Errors: conflict (it is there), invalid (what is there is no regular file),
  /// io.
  [[nodiscard]] static Result<OutputFile> create(std::string path, bool replace);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  [[nodiscard]] int descriptor() const { return file_.get(); }
  /// Errors: conflict (somebody else made a file of this name meanwhile), io.
  [[nodiscard]] Result<void> finish();

 private:
  OutputFile() = default;
  [[nodiscard]] Result<void> take_its_name();

  std::string path_, fresh_;  ///< `fresh_` is empty once it has its name.
  bool replace_ = false;
  events::Descriptor file_;
};

/// A folder of this process alone, under $TMPDIR or /tmp, removed with everything in it at the end, or by the next process of this user
/// that makes one if its own was killed.
class TemporaryFolder {
 public:
  /// Errors: io.
  [[nodiscard]] static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  TemporaryFolder() = default;
  std::string path_;
  events::Descriptor lock_;  ///< Held while it is in use.
};

}  // namespace hindsight::casefile
