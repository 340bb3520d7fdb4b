#include "events/sqlite/database.hpp"

#include <sqlite3.h>

#include <initializer_list>

namespace hindsight::events::sqlite {
namespace {

/// Long enough for another process that checkpoints or opens the file; writers never meet, see WriterLock.
constexpr int busy_timeout_ms = 5'000;

ErrorKind kind_of(int code) {
  switch (code & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorKind::corrupt;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return ErrorKind::denied;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return ErrorKind::unavailable;
    case SQLITE_TOOBIG:
      return ErrorKind::invalid;
    case SQLITE_FULL:
      return ErrorKind::unavailable;  // until there is room
    default:
      return ErrorKind::io;
  }
}

tl::unexpected<Error> failure(sqlite3* db, int code) {
  std::string message = sqlite3_errmsg(db);
  if (message.starts_with("access to view"))
    return fail(ErrorKind::corrupt, message + ": found a view in the place of a table; allowed: the tables of docs/log-format.md");
  const int extended = sqlite3_extended_errcode(db);
  message += " (SQLite code " + std::to_string(extended != SQLITE_OK ? extended : code);
  if (const int system = sqlite3_system_errno(db); system != 0 && kind_of(code) == ErrorKind::io) {
    message += ", system error " + std::to_string(system);
  }
  message += ')';
  // SQLite says the same of a disk that gave EIO: who reads it shall not throw a good file away.
  if (code == SQLITE_CORRUPT) message += ": either the file has changed, or the disk could not give its bytes";
  return fail(kind_of(code), message);
}

/// A file name as a URI; what the URI syntax claims for itself is escaped.
std::string uri_of(const std::string& path) {
  std::string out = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      constexpr char digits[] = "0123456789ABCDEF";
      out += {'%', digits[static_cast<unsigned char>(c) >> 4], digits[static_cast<unsigned char>(c) & 15]};
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

// ---- statement ------------------------------------------------------------------------------------------------------------

void Statement::Finalize::operator()(sqlite3_stmt* raw) const { sqlite3_finalize(raw); }

Statement& Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(raw_.get(), index, value);
  return *this;
}

Statement& Statement::bind(int index, std::string_view text) {
  sqlite3_bind_text64(raw_.get(), index, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind(int index, std::span<const std::byte> bytes) {
  if (bytes.empty()) {
    sqlite3_bind_zeroblob(raw_.get(), index, 0);
  } else {
    sqlite3_bind_blob64(raw_.get(), index, bytes.data(), bytes.size(), SQLITE_STATIC);
  }
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(raw_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    reset();
    return false;
  }
  auto error = failure(sqlite3_db_handle(raw_.get()), code);
  reset();
  return error;
}

Result<void> Statement::run() {
  for (;;) {
    const auto row = step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return {};
  }
}

void Statement::reset() { sqlite3_reset(raw_.get()); }

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(raw_.get(), column); }

std::string_view Statement::text(int column) const {
  const auto* p = sqlite3_column_text(raw_.get(), column);
  if (p == nullptr) return {};
  return {reinterpret_cast<const char*>(p), static_cast<std::size_t>(sqlite3_column_bytes(raw_.get(), column))};
}

std::span<const std::byte> Statement::bytes(int column) const {
  const auto* p = static_cast<const std::byte*>(sqlite3_column_blob(raw_.get(), column));
  if (p == nullptr) return {};
  return {p, static_cast<std::size_t>(sqlite3_column_bytes(raw_.get(), column))};
}

// ---- database -------------------------------------------------------------------------------------------------------------

void Database::Close::operator()(sqlite3* raw) const { sqlite3_close_v2(raw); }

Result<Database> Database::open(const std::string& path, Mode mode) {
  const int flags = (mode == Mode::read_write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW : SQLITE_OPEN_READONLY) | SQLITE_OPEN_URI |
                    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2((uri_of(path) + (mode == Mode::immutable ? "?immutable=1" : "")).c_str(), &raw, flags, nullptr);
  Database out;
  out.raw_.reset(raw);
  if (code != SQLITE_OK) return failure(raw, code);
  // Whoever made the file may have put a view in the place of a table, which never ends, or a trigger that removes what is written.
  for (const int option : {SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_TRUSTED_SCHEMA}) {
    if (const int set = sqlite3_db_config(raw, option, 0, nullptr); set != SQLITE_OK) return failure(raw, set);
  }
  sqlite3_busy_timeout(raw, busy_timeout_ms);
  return out;
}

Result<void> Database::execute(const char* sql) {
  const int code = sqlite3_exec(raw_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(raw_.get(), code);
  return {};
}

Result<Statement> Database::prepare(const char* sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(raw_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return failure(raw_.get(), code);
  return Statement(raw);
}

Result<std::int64_t> Database::query_integer(const char* sql) {
  auto statement = prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  const auto row = statement->step();
  if (!row) return tl::unexpected(row.error());
  return *row ? statement->integer(0) : 0;
}

Result<std::string> Database::query_text(const char* sql) {
  auto statement = prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  const auto row = statement->step();
  if (!row) return tl::unexpected(row.error());
  return *row ? std::string(statement->text(0)) : std::string();
}

void Database::roll_back() {
  if (sqlite3_get_autocommit(raw_.get()) == 0) sqlite3_exec(raw_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

std::int64_t Database::last_insert_id() const { return sqlite3_last_insert_rowid(raw_.get()); }

}  // namespace hindsight::events::sqlite
