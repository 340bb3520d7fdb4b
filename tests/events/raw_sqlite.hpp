#pragma once

// A log file as somebody with the sqlite3 tool sees and changes it, past the code under test.

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hindsight::test {

class RawSqlite {
 public:
  explicit RawSqlite(const std::string& path) { EXPECT_EQ(sqlite3_open(path.c_str(), &db_), SQLITE_OK); }
  RawSqlite(const RawSqlite&) = delete;
  RawSqlite& operator=(const RawSqlite&) = delete;
  ~RawSqlite() { sqlite3_close(db_); }

  /// Runs statements; `blobs` are their parameters, and there is only one statement then.
  void run(const std::string& text, const std::vector<std::span<const std::byte>>& blobs = {}) {
    if (blobs.empty()) {
      char* message = nullptr;
      EXPECT_EQ(sqlite3_exec(db_, text.c_str(), nullptr, nullptr, &message), SQLITE_OK) << (message == nullptr ? "" : message);
      sqlite3_free(message);
      return;
    }
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db_, text.c_str(), -1, &statement, nullptr), SQLITE_OK) << sqlite3_errmsg(db_);
    for (std::size_t i = 0; i < blobs.size(); ++i) {
      const void* data = blobs[i].empty() ? "" : static_cast<const void*>(blobs[i].data());  // a null pointer would be NULL
      sqlite3_bind_blob64(statement, static_cast<int>(i + 1), data, blobs[i].size(), SQLITE_STATIC);
    }
    EXPECT_EQ(sqlite3_step(statement), SQLITE_DONE) << sqlite3_errmsg(db_);
    sqlite3_finalize(statement);
  }

  /// The first column of all rows, as text.
  std::vector<std::string> column(const std::string& text) {
    std::vector<std::string> out;
    const auto keep = [](void* to, int, char** values, char**) {
      static_cast<std::vector<std::string>*>(to)->emplace_back(values[0] == nullptr ? "null" : values[0]);
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(db_, text.c_str(), keep, &out, nullptr), SQLITE_OK) << sqlite3_errmsg(db_);
    return out;
  }

  std::int64_t integer(const std::string& text) {
    const auto rows = column(text);
    return rows.empty() ? 0 : std::stoll(rows[0]);
  }

 private:
  sqlite3* db_ = nullptr;
};

inline void sql(const std::string& path, const std::string& text) { RawSqlite(path).run(text); }

/// Parts of snapshots in the file that no snapshot claims.
inline std::int64_t unclaimed_parts(const std::string& path) {
  return RawSqlite(path).integer(
      "SELECT count(*) FROM snapshot_parts p WHERE NOT EXISTS "
      "(SELECT 1 FROM snapshots s WHERE p.id >= s.first_part AND p.id < s.first_part + s.parts)");
}

}  // namespace hindsight::test
