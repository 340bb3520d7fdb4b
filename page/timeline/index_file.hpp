#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "events/log.hpp"
#include "page/timeline/object_index.hpp"
#include "page/timeline/rows.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::page::timeline {

/// What a file keeps of a history that was read, so that the next process need not read it again. It can be thrown away at any time.
struct KeptIndex {
  std::shared_ptr<const Series> rows;
  std::shared_ptr<const ObjectIndex> objects;
  ObjectIndexMaker::Open open;          ///< Of `objects`.
  std::set<std::uint64_t> passed_over;  ///< Records that had been set aside, by sequence.
  [[nodiscard]] Position end() const { return rows->end; }
};

/// Which file is whose: by the log's name and the domain. Of a log in a file it lies beside it, of every other below `folder`, and with
/// `always_folder` so do all. Empty: it is kept nowhere.
[[nodiscard]] std::string index_file_path(std::string_view log_name, std::string_view domain, const std::string& folder,
                                          bool always_folder);

/// Writes the whole file under another name first, and puts it in the place of the older one. `release`: of the software that read the
/// history. Errors: io (it cannot be written there, which does no harm), and those of the log, some of whose records it names.
[[nodiscard]] Result<void> write_index_file(const std::string& path, const events::Log& log, const std::string& domain,
                                            const std::string& release, const KeptIndex& kept);

/// Nothing: there is no file. Errors: unsupported (it is of another release, or form), conflict (it is of another log or domain, or the log
/// was changed since), corrupt (it is damaged), io; each says what was found and what is allowed. It is then to be made anew.
[[nodiscard]] Result<std::optional<KeptIndex>> read_index_file(const std::string& path, const events::Log& log, const std::string& domain,
                                                               const std::string& release);

/// A larger one is not read.
inline constexpr std::size_t index_file_bytes_max = std::size_t{256} << 20;

}  // namespace hindsight::page::timeline
