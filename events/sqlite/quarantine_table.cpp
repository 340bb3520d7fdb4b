#include "events/sqlite/quarantine_table.hpp"

#include <algorithm>
#include <string>

#include "events/sqlite/cut.hpp"
#include "events/sqlite/layout.hpp"

namespace hindsight::events::sqlite {
namespace {

constexpr const char* quarantine_table = R"(
CREATE TABLE IF NOT EXISTS quarantined (
  domain TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (domain, sequence)
) STRICT;
)";

}  // namespace

Result<void> add_quarantined(Database& database, const QuarantinedRecord& record) {
  if (auto made = database.execute(quarantine_table); !made) return made;
  if (auto made = make_cut_table(database); !made) return made;
  if (auto raised = raise_version(database, quarantined_version); !raised) return raised;
  auto insert = database.prepare("INSERT OR IGNORE INTO quarantined VALUES (?1, ?2, ?3)");
  if (!insert) return tl::unexpected(insert.error());
  return insert->bind(1, std::string_view(record.domain)).bind(2, record.sequence).bind(3, record.position).run();
}

Result<std::vector<QuarantinedRecord>> read_quarantined(Database& database) {
  const auto version = database.query_integer("PRAGMA user_version");
  if (!version) return tl::unexpected(version.error());
  std::vector<QuarantinedRecord> out;
  if (*version < quarantined_version) return out;
  auto rows = database.prepare("SELECT domain, sequence, position FROM quarantined");
  if (!rows) return tl::unexpected(rows.error());
  for (;;) {
    const auto row = rows->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) break;
    out.push_back({std::string(rows->text(0)), rows->number(1), rows->number(2)});
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace hindsight::events::sqlite
