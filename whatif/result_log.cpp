#include "whatif/result_log.hpp"

#include <algorithm>
#include <cstddef>

namespace hindsight::whatif {
namespace {

constexpr std::size_t written_at = std::size_t{4} << 20;  // bytes that wait

}  // namespace

Result<void> ResultLog::copy(const events::Log& from, std::span<const std::string> domains, events::Position to) {
  const auto trimmed = from.trimmed();
  if (!trimmed) return tl::unexpected(trimmed.error());
  if (*trimmed)
    return fail(ErrorKind::unsupported, "log " + std::string(from.name()) +
                                            " has forgotten its beginning, and the result would be a log without one; keep no result");
  const auto last = out_.last();
  if (!last) return tl::unexpected(last.error());
  if (*last != 0) return fail(ErrorKind::conflict, "log " + std::string(out_.name()) + " has records already; allowed: an empty one");
  events::RecordBatch batch;
  for (events::Position at = 1; at <= to;) {
    if (auto ok = from.read(at, {}, batch); !ok) return ok;
    if (batch.empty()) break;
    for (const auto& stored : batch) {
      at = stored.offset + 1;
      if (stored.offset > to) break;
      if (std::ranges::find(domains, stored.domain) == domains.end()) continue;
      if (auto ok = add(stored); !ok) return ok;
    }
  }
  return flush();
}

Result<void> ResultLog::add(const events::EncodedRecord& record) {
  unwritten_.add(record);
  return unwritten_.bytes() > written_at ? flush() : Result<void>{};
}

Result<void> ResultLog::flush() {
  if (unwritten_.empty()) return {};
  const auto written = out_.append(unwritten_.views(), std::nullopt);
  unwritten_.clear();
  if (!written) return tl::unexpected(written.error());
  return {};
}

}  // namespace hindsight::whatif
