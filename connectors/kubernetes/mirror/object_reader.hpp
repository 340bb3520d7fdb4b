#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vocabulary/result.hpp"

namespace hindsight::connectors::kubernetes {

/// The JSON text of one API object with those of its metadata that the mirror needs. All views point into the text that was
/// read, or into the reader where that text was no UTF-8: until it reads the next. Any of the four may be empty.
struct ObjectView {
  std::string_view text;
  std::string_view namespace_;
  std::string_view name;
  std::string_view uid;
  std::string_view resource_version;
  std::string_view managed_fields;  ///< `"managedFields":[...]` with the comma that goes with it; empty when absent.
};

/// Writes the text of an object without metadata.managedFields: nobody here reads them, and they are often a third of it.
void copy_without_managed_fields(const ObjectView& object, std::string& out);

/// One line of a watch, read.
struct WatchLine {
  enum class Type { added, modified, deleted, bookmark, error };
  Type type = Type::added;
  ObjectView object;    ///< Not for error.
  int status_code = 0;  ///< For error: of the Status object.
  std::string status_message;
};

/// One page of a list, read.
struct ListPage {
  std::vector<ObjectView> items;
  std::string_view resource_version;
  std::string_view continue_token;  ///< Empty on the last page.
};

/// What a Status object says; for an answer that is none, the start of its text.
struct StatusText {
  int code = 0;
  std::string reason;
  std::string message;
  std::string object_name;  ///< Of the object that it is about; empty for a kind that the server does not know.
};

/// Reads API objects with simdjson, without building a tree. Keeps its buffers from one text to the next; not thread-safe.
/// The texts must be followed by `padding` readable bytes, which only have to exist. Bytes that are no UTF-8 are read as U+FFFD.
class ObjectReader {
 public:
  static constexpr std::size_t padding = 64;

  ObjectReader();
  ~ObjectReader();
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;

  [[nodiscard]] Result<ObjectView> read_object(std::string_view padded_text);
  [[nodiscard]] Result<WatchLine> read_watch_line(std::string_view padded_text);
  [[nodiscard]] Result<ListPage> read_list_page(std::string_view padded_text);
  /// What was read is of no use any more. Reading takes memory of four times a text, which is given back if it is much.
  void rest();

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

/// Makes the text of an answer fit for an ObjectReader.
inline void pad(std::string& text) { text.reserve(text.size() + ObjectReader::padding); }

[[nodiscard]] StatusText read_status(std::string_view body);

}  // namespace hindsight::connectors::kubernetes
