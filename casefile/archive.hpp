#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "vocabulary/result.hpp"
#include "vocabulary/time.hpp"

struct archive;

namespace hindsight::casefile {

/// A .tar.gz whose bytes depend on what is put in and on nothing else: no time of packing, user, group or name of a file in it.
class Archive {
 public:
  /// Writes to an open file or pipe, which stays open. `time`: of all entries. `folder`: in which they stand. Errors: io.
  [[nodiscard]] static Result<Archive> open(int file, std::string folder, Time time);

  /// Errors: io.
  [[nodiscard]] Result<void> add(const std::string& name, std::string_view bytes);
  /// The bytes of a file, as many as it has now. Errors: io, conflict (it changes meanwhile).
  [[nodiscard]] Result<void> add_file(const std::string& name, const std::string& path);
  /// Writes the end; without it the file is not whole. Errors: io.
  [[nodiscard]] Result<void> finish();

 private:
  struct Close {
    void operator()(struct archive* a) const;
  };
  Archive() = default;
  [[nodiscard]] Result<void> begin(const std::string& name, std::int64_t bytes);
  [[nodiscard]] Result<void> write(std::string_view bytes);
  [[nodiscard]] tl::unexpected<Error> failed() const;

  std::unique_ptr<struct archive, Close> archive_;
  std::string folder_;
  Time time_;
};

}  // namespace hindsight::casefile
